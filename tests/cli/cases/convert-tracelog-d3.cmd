# convert modernises a log of early 2017
trackway convert "$DATA/tracelog/d0.log" --to tracelog --dialect d3
