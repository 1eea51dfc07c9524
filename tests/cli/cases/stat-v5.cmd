# stat: the table
trackway stat "$DATA/xray/v5.xray"
