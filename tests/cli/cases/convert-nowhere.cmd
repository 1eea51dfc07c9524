# convert wants a place or a format
trackway convert "$DATA/xray/v5.xray"
