# info of a small log of version 5
trackway info "$DATA/xray/v5.xray"
