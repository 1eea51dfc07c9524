# a process is named after the first assembly beside the class library, or else after its domain
log="$DATA/tracelog"
process_of() { trackway convert "$1" --to chrome 2>/dev/null | grep -o '"process_name","args":{"name":"[^"]*"' | sed 's/.*:"//'; }
process_of "$log/kinds.log"
sed '/^asm ldf/a\
asm ldf 0xB6C00200 0xB6A00100 0xB6B00000 0x00000000 "App"\
asm ldf 0xB6C00300 0xB6A00100 0xB6B00000 0x00000000 "Later"' "$log/kinds.log" >app.log
process_of app.log
trackway cpu --json app.log | head -n 1 | grep -o '"process_name":"[^"]*"'
sed 's/"System.Private.CoreLib"$/"mscorlib"/' app.log >mono.log
process_of mono.log
