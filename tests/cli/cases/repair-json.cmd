# repair: the counts as JSON
head -c 300 "$DATA/xray/v5.xray" | trackway repair --json - -o out.xray
