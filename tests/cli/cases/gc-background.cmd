# gc: collections in the background, the reason tells, are no pauses, and overlapping ones count once
printf '%s\n' 'prf stm 2026-01-02 03:04:05.000 +00:00' 'thr crt 0x1 0x0' 'thr aos 0x0 7' \
	'gch gcs 7 100 induced-background ttft' 'gch gcs 7 110 ? tfff' 'gch gcf 7 114' 'gch gcf 9 140' \
	'gch gcs 7 150 background tttt' 'gch gcf 9 160' 'gch gcs 7 200 induced tttt' 'gch gcf 7 206' 'prf tps 1000' >app.log
trackway gc app.log
trackway gc --json app.log | tail -n 1
