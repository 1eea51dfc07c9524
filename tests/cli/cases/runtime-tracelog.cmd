# gc, jit, alloc and cpu: what the runtime did
for command in gc "gc --by class" "gc --diff 140ms,142ms" "gc --by generation" jit alloc cpu; do
	echo "$command:"
	trackway $command "$DATA/tracelog/kinds.log"
done
