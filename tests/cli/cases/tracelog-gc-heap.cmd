# gc: the heap before and after, what was allocated and promoted, and who ran
# Before: what the last report has, and what was allocated since; of the first, nothing is reported. Promoted: of the second,
# of generations 0 and 1: 200 in generation 1, and 300 more than before in generation 2; of the third all but generation 0.
trackway gc "$DATA/tracelog/gc-heap.log"
trackway gc --json "$DATA/tracelog/gc-heap.log" | grep -o '"before_bytes".*'
