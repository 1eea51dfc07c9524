# blobs as JSON Lines, and a trace without any
trackway blobs --json "$DATA/fxt/oneshot_all.fxt"
trackway blobs --json "$DATA/fxt/streaming.fxt"
