# gc: a collection begins in the function that allocated last, whatever is sampled besides; without allocations in the one seen last
log() {
	printf '%s\n' 'fun nam 0x00000002 "P::Makes" "void" "()"' 'fun nam 0x00000003 "P::Sleeps" "void" "()"' \
	    'cls nam 0x00000000 "K"' 'thr crt 0x0000000000000001 0x00000000' 'thr aos 0x00000000 7' \
	    'sam str 0x00000000 9 1 0:0 0x3' "$@" 'sam str 0x00000000 20 1 0:1 0x3' 'gch gcs 7 20 ? tfff' 'gch gcf 7 21' \
	    'sam str 0x00000000 30 1 1:1' 'gch gcs 7 31 ? tfff' 'gch gcf 7 32' 'gch gcs 7 33 ? tfff' 'gch gcf 7 34'
}
log 'sam str 0x00000000 10 0 0:1 0x2' 'sam mem 0x00000000 10 0x0:1:24' >allocates.log
log 'sam str 0x00000000 10 1 0:1 0x2' >samples.log
for name in allocates samples; do
	trackway gc --json $name.log | grep -o '"time_ns":[0-9]*\|"function":.*'
done
