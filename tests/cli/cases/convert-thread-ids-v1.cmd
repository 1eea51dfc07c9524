# Numbers of threads that version 1 of an XRay log would read as 2 bytes are replaced, and counted
printf '{"traceEvents":[%s,%s]}' '{"ph":"X","pid":1,"tid":5242880,"ts":1,"dur":10,"name":"a"}' \
	'{"ph":"X","pid":1,"tid":5308416,"ts":2,"dur":10,"name":"b"}' > in.json
trackway convert --to xray-fdr --format-version 1 in.json -o out.xray
trackway info out.xray | sed -n '/THREAD/,$p'
