# convert to the oldest dialect: what it has no place for is counted
trackway convert "$DATA/tracelog/kinds.log" --to tracelog --dialect d0
