# Of archives one behind the other, the providers of the first keep their names and their ticks.
cat "$DATA/fxt/cpu_breakdown.fxt" "$DATA/fxt/waker.fxt" | trackway info - | grep -A 3 '^PROVIDER'
