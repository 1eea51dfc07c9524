# dump of an FXT archive: a window of time, with strings, threads and arguments resolved
trackway dump --from-time 41.46ms --to-time 41.53ms "$DATA/fxt/oneshot_all.fxt"
