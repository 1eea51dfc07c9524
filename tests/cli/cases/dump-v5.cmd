# dump: every record with its offset
trackway dump "$DATA/xray/v5.xray"
