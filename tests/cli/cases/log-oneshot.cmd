# two log records, as text and as JSON Lines
trackway log "$DATA/fxt/oneshot_all.fxt"
trackway log --json "$DATA/fxt/oneshot_all.fxt"
