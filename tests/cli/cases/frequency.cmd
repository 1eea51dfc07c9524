# --frequency: the clock of an XRay log, which its header tells wrongly; no other format takes it
trackway info "$DATA/xray/basic-v3.xray" | grep "span\|cycle"
trackway info --frequency 500000000 "$DATA/xray/basic-v3.xray" | grep "span\|cycle"
trackway stat --csv --frequency 500000000 "$DATA/xray/v5.xray" | head -n 2 | cut -d, -f1-6
trackway convert --frequency 500000000 "$DATA/xray/v5.xray" --to xray-fdr -o out.xray
trackway info out.xray | grep frequency
trackway info --frequency 2.5MHz "$DATA/xray/v5.xray" | grep cycle
trackway info --frequency 2.1GHz "$DATA/xray/v5.xray" | grep cycle
trackway info --frequency 2.1Ghz "$DATA/xray/v5.xray"
trackway info --frequency 1.0001kHz "$DATA/xray/v5.xray"
trackway info --frequency 0GHz "$DATA/xray/v5.xray"
trackway info --frequency 1001GHz "$DATA/xray/v5.xray"
trackway stat --frequency 1000 "$DATA/fxt/flow3.fxt"
