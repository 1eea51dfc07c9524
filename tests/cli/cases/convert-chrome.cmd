# convert to Chrome trace JSON
trackway convert --to chrome "$DATA/xray/be-msb-v5.xray"
