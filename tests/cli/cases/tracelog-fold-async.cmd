# --fold-async: the body of an async method counts as the method
cat >async.log <<'END'
thr crt 0x00000000B6A00000 0x00000000
fun nam 0x00000002 "A::Run" "Task" "(string)"
fun nam 0x00000003 "A.<Run>d__3::MoveNext" "void" "()"
fun nam 0x00000004 "A.<Late>d__4<T=System.String>::MoveNext" "void" "()"
fun nam 0x00000005 "A::Late" "Task" "()"
fun nam 0x00000006 "A.<>c.<<Main>b__0_0>d::MoveNext" "void" "()"
fun nam 0x00000007 "A.List<T=B.C>::MoveNext" "bool" "()"
sam str 0x00000000 10 1 0:0 0x2
sam str 0x00000000 20 2 1:1 0x3
sam str 0x00000000 30 4 0:2 0x4
sam str 0x00000000 40 8 0:1 0x5
sam str 0x00000000 50 16 0:1 0x6
sam str 0x00000000 60 32 0:1 0x7
END
# Run: 1 + 2, Late: 4 + 8.
trackway stat --fold-async --csv async.log 2>/dev/null | cut -d, -f1,5,6
trackway flame --fold-async --folded async.log 2>/dev/null | sort
trackway stat --csv async.log 2>/dev/null | cut -d, -f1,6
# Visual Basic and F#; what only looks alike stays.
{
	echo 'thr crt 0x00000000B6A00000 0x00000000'
	n=0
	for name in 'V.M.VB$StateMachine_12_Work' 'V.M.VB$StateMachine_3_Item<T=System.Int32>' 'F.M.run@20' 'F.M.run@20-1<T=A.B>' \
	    'M.VB$StateMachine_x_No' 'M.VB$StateMachine_1_' 'M.@20' 'M.no@' 'M.no@2x' 'M.no@2-' 'VB$StateMachine_1_Top'; do
		n=$((n + 1))
		printf 'fun nam 0x%08x "%s::MoveNext" "void" "()"\nsam str 0x00000000 %d 1 0:%d 0x%x\n' $n "$name" $n $((n > 1)) $n
	done
} >others.log
trackway stat --fold-async --csv others.log 2>/dev/null | cut -d, -f1,6
