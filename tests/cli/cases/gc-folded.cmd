# gc --folded: what lives by type, for a flame graph
cat >live.log <<'END'
cls nam 0x00000000 "System.String"
cls nam 0x00000001 "System.Collections.Generic.List<T=System.String>"
cls nam 0x00000002 "System.Byte[]"
cls nam 0x00000003 "Plain"
gch alt 10 0x0:1:100 0x1:2:40 0x2:1:900 0x3:1:5
gch alt 20 0x0:1:60 0x1:2:40 0x3:1:7
END
trackway gc --folded live.log
trackway gc --folded live.log | trackway flame --folded - | sort
trackway gc --folded live.log | trackway flame -w bytes - | grep -o 'id="summary".*</text>'
trackway gc --folded live.log | trackway stat -w bytes --top 1 -
trackway gc --folded live.log | trackway stat -w cpu --top 1 -
# Of how many objects such stacks are is not told.
printf 'main;Make 60\nmain 40\n' >bytes.folded
trackway stat -w bytes --json bytes.folded | grep -o '"name":"[^"]*","id":0,"count":[^,]*'
trackway stacks -w bytes bytes.folded
trackway graph -w bytes bytes.folded | grep -o 'Make.ntotal[^,]*,'
trackway gc --folded --by generation live.log
