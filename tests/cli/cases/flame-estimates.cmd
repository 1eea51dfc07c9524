# a picture says that bytes are estimates where the log has samples of allocations, and only for these weights
printf '%s\n' 'prf stm 2026-01-02 03:04:05.000 +00:00' 'prf cfg AllocationSampleBytes 4096' 'sam str 0x00000000 10 1 0:0 0x2' \
	'sam mem 0x00000000 10 0x00000000:2:8192' >app.log
for weight in bytes allocations samples; do
	trackway flame --from tracelog --weight $weight app.log -o out.svg 2>/dev/null
	grep -o 'id="summary".*estimates, [^<]*\|id="summary"[^<]*' out.svg
done
