# dump of a big-endian log as JSON Lines
trackway dump --json "$DATA/xray/be-msb-v5.xray"
