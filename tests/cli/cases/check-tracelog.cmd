# check: what is odd about a log with every kind of record
trackway check "$DATA/tracelog/kinds.log"
