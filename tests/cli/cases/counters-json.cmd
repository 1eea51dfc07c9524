# series as JSON Lines
cd "$DATA/fxt" && trackway counters --json oneshot_all.fxt streaming.fxt
