# shares are of the window, in a part as in the whole
log="$DATA/tracelog/t17-jit-nested.log"
trackway cut --from-time 15ms --to-time 40ms "$log" -o part.log
grep Part part.log
# 25 of 25 ms; the compilation inside of it is whole.
trackway jit part.log | tail -n 1
trackway jit --from-time 15ms --to-time 40ms "$log" | tail -n 1
# A part of a part tells its own edges: 10 of 10 ms.
trackway cut --from-time 20ms part.log -o less.log
trackway cut --to-time 30ms less.log -o least.log
grep Part least.log
trackway jit least.log | tail -n 1
# A window around that of the part is no larger than it.
trackway cut --from-time 1ms --to-time 1s least.log -o - | grep Part
