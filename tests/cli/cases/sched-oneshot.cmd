# switches of the legacy kind: threads, then CPUs
trackway sched "$DATA/fxt/oneshot_all.fxt"
trackway sched --by cpu "$DATA/fxt/oneshot_all.fxt"
