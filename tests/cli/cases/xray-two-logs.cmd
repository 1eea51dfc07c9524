# Two XRay logs in one file are two logs: each call of both counts, and repair makes one of them
calls() { trackway stat --csv "$1" 2>/dev/null | tail -n +2 | cut -d, -f2,3; }
for kind in v1 v3 basic-v3; do
	other=$kind-functions-only
	[ "$kind" != basic-v3 ] || other=basic-v3-arg-first
	cat "$DATA/xray/$kind.xray" "$DATA/xray/$other.xray" >both.xray
	trackway check both.xray | grep -c another-log
	trackway repair both.xray -o one.xray 2>/dev/null
	{ calls "$DATA/xray/$kind.xray"; calls "$DATA/xray/$other.xray"; } | awk -F, '{n[$1] += $2} END {for (id in n) print id "," n[id]}' |
		sort >sums
	for log in both one; do calls $log.xray | sort | diff sums - && echo "$kind: $(wc -l <sums) functions"; done
done
# another clock: not read with the first, and told as a log
{ cat "$DATA/xray/v3.xray"; head -c 9 "$DATA/xray/v3-functions-only.xray"; printf x; tail -c +11 "$DATA/xray/v3-functions-only.xray"; } >both.xray
trackway check both.xray | grep -o 'fdr.junk\|another-log\|foreign-log'
