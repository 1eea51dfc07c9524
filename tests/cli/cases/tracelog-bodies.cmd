# a method keeps all its native bodies, also one that is told behind its samples, and the code of each counts once
log="$DATA/tracelog"
trackway stat --by line "$log/u1-tiers.log"
trackway jit --json "$log/u4-jit-recompiled-once-announced.log" | grep -o '"compiled".*"code_bytes":[0-9]*'
head='0x00000003 0x00000000A0000030 0x0000000000000000 0x0000000000000000 0x06000003'
{
	echo 'fun nam 0x00000003 "A::B" "void" "()"'
	echo 'jit cms 100 1 0x00000000A0000030'
	echo "fun inf $head 0x0000000000001000:0x20 0x7:0x0:0x20"
	echo 'jit cmf 100 2 0x00000000A0000030 0x00000000'
	echo 'sam str 0x00000000 3 1 0:0 0x3:0x0000000000002010'
	echo 'sam str 0x00000000 4 1 0:1 0x3:0x0000000000003010'
	echo 'jit cms 100 5 0x00000000A0000030'
	echo 'jit cmf 100 6 0x00000000A0000030 0x00000000'
	echo "fun inf $head 0x0000000000002000:0x40 0x9:0x0:0x40"
	echo "fun inf $head 0x0000000000001000:0x20 0x7:0x0:0x20"
	echo 'sam str 0x00000000 7 1 0:1 0x3:0x0000000000001010'
} >tiers.log
trackway stat --by line tiers.log
trackway jit --json tiers.log | grep -o '"compiled".*"code_bytes":[0-9]*'
