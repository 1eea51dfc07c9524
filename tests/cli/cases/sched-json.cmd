# scheduling as JSON Lines
trackway sched --json "$DATA/fxt/oneshot_all.fxt"
trackway sched --json --by cpu "$DATA/fxt/oneshot_all.fxt"
