# alloc, stat, flame: allocations that are estimates are said to be
printf '%s\n' 'prf stm 2026-01-02 03:04:05.000 +00:00' 'prf cfg MemoryTraceEnabled T' 'prf cfg AllocationSampleBytes 4096' \
	'thr crt 0x1 0x0' 'thr aos 0x0 7' 'fun nam 0x2 "Main" "void" "()"' 'cls nam 0x0 "Node"' \
	'sam str 0x0 10 0 0:0 0x2' 'sam mem 0x0 10 0x0:170:4080' 'sam mem 0x0 20 0x0:171:4104' >app.log
trackway alloc app.log
trackway alloc --json app.log
trackway stat --weight bytes app.log
trackway stat app.log
trackway flame --weight allocations app.log -o app.svg
sed -i 's/ 4096$/ 0/' app.log
trackway alloc app.log
