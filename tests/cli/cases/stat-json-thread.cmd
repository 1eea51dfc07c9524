# stat by thread, as JSON Lines
trackway stat --json --by thread "$DATA/xray/v5.xray"
