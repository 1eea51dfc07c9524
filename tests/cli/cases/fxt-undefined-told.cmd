# every command that looks references up tells of one that is not registered, whichever loop takes the record
for command in info stat stacks 'flame --folded' graph dump 'dump --json' 'dump --thread 2' \
	'convert --to jsonl -o -' 'cut --from-time 0 -o out.fxt' 'merge -o out.fxt' "stat --category '*'" 'stat --jobs 1' "info --category '*'"; do
	eval "trackway $command \$DATA/fxt/undefined-name.fxt" >out 2>err
	echo "$? $(grep -o '\[.*\]$' err)"
done
