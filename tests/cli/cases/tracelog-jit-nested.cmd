# a compilation inside another counts its own time once; collections that overlap are their union
log="$DATA/tracelog"
trackway jit "$log/t17-jit-nested.log"
trackway jit --by thread --json "$log/t17-jit-nested.log"
# Two that begin and end in the same millisecond: the line tells which is around the other.
printf '%s\n' 'jit cms 100 10 0xA0000010' 'jit cms 100 10 0xA0000020' 'jit cmf 100 20 0xA0000020 0x00000000' \
	'jit cmf 100 20 0xA0000010 0x00000000' >same.log
trackway jit --csv same.log | cut -d, -f1,4,5
trackway jit --by thread --csv same.log | cut -d, -f4,5
trackway gc "$log/t20-gc-nested.log"
