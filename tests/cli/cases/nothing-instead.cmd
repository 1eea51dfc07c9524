# a command that finds nothing says what else there is, and which command shows it
echo '[{"ph":"b","ts":1,"pid":1,"tid":1,"id":"1","cat":"c","name":"op"},{"ph":"e","ts":5,"pid":1,"tid":1,"id":"1","cat":"c","name":"op"}]' >async.json
for command in stat stacks graph flame; do trackway $command async.json >out; done
trackway stat --function x async.json >out
trackway cpu "$DATA/fxt/idle.fxt"
trackway sched "$DATA/chrome/pid0.json"
trackway stat --weight samples "$DATA/chrome/pid0.json" >out
