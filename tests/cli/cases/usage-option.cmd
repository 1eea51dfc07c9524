# an option that is spelt wrong
trackway stat --jsn "$DATA/xray/v5.xray"
