# --frequency: the clock of an XRay log, which its header tells wrongly; no other format takes it
trackway info "$DATA/xray/basic-v3.xray" | grep "span\|cycle"
trackway info --frequency 500000000 "$DATA/xray/basic-v3.xray" | grep "span\|cycle"
trackway stat --csv --frequency 500000000 "$DATA/xray/v5.xray" | head -n 2 | cut -d, -f1-6
trackway convert --frequency 500000000 "$DATA/xray/v5.xray" --to xray-fdr -o out.xray
trackway info out.xray | grep frequency
trackway stat --frequency 1000 "$DATA/fxt/flow3.fxt"
