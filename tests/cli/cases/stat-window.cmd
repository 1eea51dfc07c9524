# stat of the first 40 ns only: calls are clipped
trackway stat --json --to-time 40ns "$DATA/xray/v5.xray"
