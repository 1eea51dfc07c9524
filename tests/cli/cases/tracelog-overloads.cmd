# overloads are rows of their own, with their signatures, in every command and target; each is compared with itself
log="$DATA/tracelog"
trackway stat "$log/u2-two-names-samefn.log"
trackway convert "$log/u2-two-names-samefn.log" --to folded
trackway diff "$log/oa.log" "$log/ob.log" 2>/dev/null
# The second comes behind events of the first, further behind than events wait.
{
	printf '%s\n' 'thr crt 0x1000 0x00000000' 'fun nam 0x00000001 "A::F" "void" "(int)"' \
		'fun nam 0x00000003 "A::op_Implicit" "int" "(A)"' 'fun nam 0x00000004 "A::op_Implicit" "long" "(A)"' \
		'fun nam 0x00000005 "A::G" "int" "()"' 'fun nam 0x00000006 "A::G" "long" "()"' \
		'sam str 0x00000000 1 1 0:0 0x1' 'sam str 0x00000000 1 2 0:1 0x3' 'sam str 0x00000000 1 3 0:1 0x4' \
		'sam str 0x00000000 1 4 0:1 0x5'
	yes 'thr cpu 0x00000000 2 0' | head -n 250000
	printf '%s\n' 'fun nam 0x00000002 "A::F" "void" "(string)"' 'sam str 0x00000000 2 5 0:1 0x2'
} >late.log
trackway stat late.log
trackway convert late.log --to jsonl 2>/dev/null | grep stack-sample | grep -o '"name":"A[^"]*"'
trackway convert - --to folded <late.log
