# check: findings as JSON Lines
trackway check --json "$DATA/xray/v5.xray"
