# stat of calls that are all open: their shortest and longest are not known
head -c 128 "$DATA/xray/v5.xray" >cut.xray
trackway stat --json cut.xray 2>/dev/null
trackway stat cut.xray 2>/dev/null
