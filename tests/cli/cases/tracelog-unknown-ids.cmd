# "?" is a legal number of threads, functions and classes: a stack keeps its depth, and nothing is lost
log="$DATA/tracelog"
trackway check "$log/q2-frame.log" | grep -v unknown]
trackway stat "$log/q2-frame.log"
trackway stacks "$log/q2-frame.log"
trackway alloc "$log/q3-sammem-class.log"
trackway cpu --json "$log/q5-thrcpu.log"
# A thread of "?" is shown so, whatever a listing tells of it; where it stands for a number, JSON and SQL have null.
printf '%s\n' 'prf stm 2024-01-01 00:00:00.000 +00:00' 'fun nam 0x00000002 "A::B" "void" "()"' 'sam str ? 10 1 0:0 0x2' \
    'sam mem ? 10 0x1:2:48' 'thr cpu ? 20 5000' >thread.log
trackway stat --by thread thread.log
trackway stat --thread '?' --json --by thread thread.log
trackway cut --thread '?' thread.log -o cut.log && grep '?' cut.log
trackway cpu thread.log
trackway alloc --by thread thread.log
trackway info thread.log | tail -n 5
trackway counters thread.log
trackway flame --folded --per-thread thread.log
trackway sql thread.log "select tid, name from thread"
trackway convert --to csv thread.log 2>/dev/null | cut -d , -f 2-6
# So it is with compilations and collections. Several threads may be of "?": their compilations end in any order, and what
# one of them ran is not what a collection began in.
printf '%s\n' 'jit cms ? 5 0x0000000000000010' 'jit cms ? 6 0x0000000000000011' 'jit cmf ? 8 0x0000000000000010 0x00000000' \
    'jit cmf ? 9 0x0000000000000011 0x00000000' 'sam str ? 10 1 0:0 0x2' 'gch gcs ? 11 induced tttt' 'gch gcf ? 15' >runtime.log
trackway check runtime.log
trackway jit --by thread runtime.log
trackway gc runtime.log | head -n 2
trackway gc --json runtime.log | head -n 1 | grep -o '"thread":null.*'
trackway info runtime.log | tail -n 5
trackway cut --thread '?' --from-time 7ms runtime.log -o cut.log && cat cut.log
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
