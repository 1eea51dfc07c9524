# Two XRay logs in one file are two logs: each call of both counts, also once they are repaired
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
# of other clocks, kinds, versions and byte orders, also behind one that is cut: each is a log of its own
head -c 701 "$DATA/xray/v5.xray" >cut.xray
set -- cut.xray "$DATA/xray/basic-v3.xray" "$DATA/xray/v3.xray" "$DATA/xray/v1.xray" "$DATA/xray/be-msb-v5.xray"
cat "$@" >several.xray
trackway repair several.xray -o mended.xray 2>/dev/null
kinds() { for log; do trackway dump "$log" 2>/dev/null; done | awk '/^0x/ {print $2}' | sort | uniq -c; }
for log; do calls "$log"; done | awk -F, '{n[$1] += $2} END {for (id in n) print id "," n[id]}' | sort >sums
kinds "$@" >records
for log in several mended; do
	calls $log.xray | sort | diff sums -
	kinds $log.xray >of_all
	diff records of_all && echo "$log: $(trackway info $log.xray 2>/dev/null | grep -c '^ .*  xray-') logs"
done
trackway check several.xray | grep -o 'unplaced\|foreign-log' | sort | uniq -c
# times of each are by its own clock: 3 GHz, and 1 GHz behind it, placed by the time since boot
cat "$DATA/xray/v3.xray" "$DATA/field/xray/dso-fdr.xray" >clocks.xray
trackway info clocks.xray | grep '^ .*  xray-'
trackway stat --csv clocks.xray 2>/dev/null | cut -d, -f1-3,5,10 | head -4
