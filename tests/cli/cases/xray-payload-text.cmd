# Payloads of events that are printable are text in SQL, Perfetto and Chrome
log=$DATA/xray/v5.xray
trackway sql --csv "$log" "select distinct value_type, string_value, display_value from args where key = 'data' order by 2"
trackway convert --to perfetto "$log" -o out.pftrace 2>/dev/null
strings out.pftrace | grep -c 'custom-event-payload'
trackway convert --to chrome "$log" -o out.json 2>/dev/null
grep -o '"data":"[^"]*"' out.json | sort | uniq -c | tr -s ' '
