# check: one is one, more are more
{ cat "$DATA/xray/v5.xray"; printf x; } >junk.xray
trackway check junk.xray
