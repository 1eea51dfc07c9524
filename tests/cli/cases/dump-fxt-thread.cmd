# dump of an FXT archive as JSON Lines: a thread, and a window of time
trackway dump --json --thread 1002 --from-time 1us --to-time 9us "$DATA/fxt/oneshot_all.fxt"
