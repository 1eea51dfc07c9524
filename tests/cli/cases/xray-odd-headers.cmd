# XRay logs of a later version, and logs without records: which versions are known, and why there is nothing
for version in 6 1; do
	{ printf "\\$version\\0\\1\\0"; tail -c +5 "$DATA/xray/v5.xray"; } | trackway info - 2>&1 | head -n 1
done
{ printf '\7\0\1\0'; tail -c +5 "$DATA/xray/v5.xray"; } | trackway stat -
{ printf '\4\0\0\0'; tail -c +5 "$DATA/xray/basic-v3.xray"; } | trackway stat -
head -c 32 "$DATA/xray/v5.xray" | trackway stat -
head -c 32 "$DATA/xray/basic-v3.xray" | trackway stat -
