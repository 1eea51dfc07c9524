# stat: every weight of a log with every kind of record
for weight in samples cpu wall bytes allocations; do
	echo "$weight:"
	trackway stat --weight $weight "$DATA/tracelog/kinds.log"
done
