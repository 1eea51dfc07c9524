# info as JSON Lines, one object a file
trackway info --json "$DATA/xray/v5.xray" "$DATA/xray/basic-v3.xray"
