# a program that forked: calls recorded before that are in both logs, and count once in whatever order
trackway stat --csv "$DATA/fork/basic-fork.xray" | cut -d, -f1,3-5
for order in "a b" "b a"; do
	set -- $order
	trackway stat --csv "$DATA/fork/fdr-fork-$1.xray" "$DATA/fork/fdr-fork-$2.xray" | cut -d, -f1,3-5
	trackway merge "$DATA/fork/fdr-fork-$1.xray" "$DATA/fork/fdr-fork-$2.xray" -o m.json 2>/dev/null
	trackway stat --csv m.json | cut -d, -f1,3-5 | sort
done
for order in "parent child" "child parent"; do
	set -- $order
	trackway stat --csv "$DATA/profiling/profiling-$1.xray" "$DATA/profiling/profiling-$2.xray" | cut -d, -f1,4,7-8
done
trackway stat --csv "$DATA/fork/fdr-fork-b.xray" "$DATA/fork/fdr-fork-b.xray" | cut -d, -f1,3
trackway info "$DATA/fork/fdr-fork-a.xray" "$DATA/fork/fdr-fork-b.xray" | grep events
