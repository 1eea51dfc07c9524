# Records of TraceLog, of every kind
trackway dump "$DATA/tracelog/kinds.log"
