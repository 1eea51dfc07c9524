# The smallest first, by any column; the first rows then are the last of the usual order
for word in count total self max id; do
	trackway stat --csv --sort $word "$DATA/xray/basic-v3.xray" | cut -d, -f2 >usual
	trackway stat --csv --sort $word --ascending "$DATA/xray/basic-v3.xray" | cut -d, -f2 >turned
	{ head -n 1 usual; tail -n +2 usual | tac; } | cmp - turned && echo $word
done
trackway stat --sort id --ascending --top 2 --csv "$DATA/xray/basic-v3.xray" | cut -d, -f1-2
trackway stat --sort name --ascending --csv "$DATA/xray/basic-v3.xray" | cut -d, -f1-2
