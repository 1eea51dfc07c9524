# diff of a log with another version of it
trackway diff "$DATA/xray/v4.xray" "$DATA/xray/v5.xray"
