# flame: folded stacks
trackway flame --folded "$DATA/xray/v5.xray" -o -
