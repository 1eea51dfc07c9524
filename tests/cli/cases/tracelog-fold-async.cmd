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
