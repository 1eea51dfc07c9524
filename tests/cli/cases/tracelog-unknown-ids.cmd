# "?" is a legal number of threads, functions and classes: a stack keeps its depth, and nothing is lost
log="$DATA/tracelog"
trackway check "$log/q2-frame.log" | grep -v unknown]
trackway stat "$log/q2-frame.log"
trackway stacks "$log/q2-frame.log"
trackway alloc "$log/q3-sammem-class.log"
trackway cpu --json "$log/q5-thrcpu.log"
trackway dump --json "$log/q7-funinf.log" | tail -n 1
for name in q2-frame q3-sammem-class q5-thrcpu q7-funinf; do
	trackway repair "$log/$name.log" -o same.log 2>/dev/null
	cmp same.log "$log/$name.log"
	trackway convert "$log/$name.log" --dialect d3 -o d3.tracelog
	cmp d3.tracelog "$log/$name.log"
	trackway convert "$log/$name.log" --dialect d2 2>/dev/null | grep '?'
	trackway cut --to-time 41ms "$log/$name.log" -o cut.log 2>/dev/null
	grep '?' cut.log
done
# A class without an id of its own cannot be named.
printf '%s\n' 'cls ldf 0x000000000000C001 ? 0x0000000000000000 0x02000001 0x00000000' 'cls nam ? "A.Q"' \
    'cls ldf 0x000000000000C002 0x00000001 0x0000000000000000 0x02000002 0x00000000' >classes.log
trackway check --all classes.log
