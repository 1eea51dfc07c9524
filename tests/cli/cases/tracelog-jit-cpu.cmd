# CPU time of compilations is the share of their thread's that they took; without stacks it is the compiler's
log="$DATA/tracelog/jit-cpu.log"
# B: 10 of 20 ms with 10 ms of CPU, then, without Main inside of it, 6 of 20 with 8: 5 + 2.4. Main: 4 of 20 with 8: 1.6.
trackway jit --json "$log" | grep -o '"name":"[^"]*"\|"cpu_ns":[^}]*'
# How much thread 1 used is not told.
trackway jit --by thread --csv "$log" | cut -d, -f1,13
trackway jit --by body "$log"
# 10 and 8 ms of CPU, in 20 ms each, of which 10 were compilations: 5 + 4; the other 9, and 2 ms later on, are nobody's.
trackway stat -w cpu --csv "$log" | cut -d, -f1,8
# A compilation is no call, but where it is asked for.
trackway stat -w calls "$log"
trackway stat -w calls --category jit --csv "$log" | cut -d, -f1,3
trackway sql --csv -q top-functions "$log"
