# graph: DOT
trackway graph "$DATA/xray/be-msb-v5.xray"
