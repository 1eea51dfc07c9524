# three blobs, one of them empty
trackway blobs "$DATA/fxt/oneshot_all.fxt"
trackway blobs --extract blob "$DATA/fxt/oneshot_all.fxt"
