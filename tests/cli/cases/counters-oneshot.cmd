# the three series of one counter
trackway counters "$DATA/fxt/oneshot_all.fxt"
