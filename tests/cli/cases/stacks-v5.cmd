# stacks: the hottest first
trackway stacks "$DATA/xray/v5.xray"
