# repair: what a cut log lacks is told
head -c 300 "$DATA/xray/v5.xray" >cut.xray
trackway repair cut.xray -o out.xray; trackway check out.xray
