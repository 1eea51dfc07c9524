# xray-profiling: what a log holds, its functions in ticks and in time, paths, graph and conversion
trackway info "$DATA/profiling/profiling-nested.xray" | tail -n +3
trackway dump "$DATA/profiling/profiling-parent.xray"
trackway stat "$DATA/profiling/profiling-nested.xray"
trackway stat --json "$DATA/profiling/profiling-nested.xray"
trackway stat --json --frequency 2300000000 "$DATA/profiling/profiling-nested.xray"
trackway stat --csv --by caller "$DATA/profiling/profiling-parent.xray"
trackway stacks "$DATA/profiling/profiling-parent.xray"
trackway flame --folded "$DATA/profiling/profiling-parent.xray"
trackway graph --json "$DATA/profiling/profiling-nested.xray"
trackway diff --json "$DATA/profiling/profiling-parent.xray" "$DATA/profiling/profiling-child.xray"
trackway convert --to folded "$DATA/profiling/profiling-nested.xray" -o -
trackway convert --to csv "$DATA/profiling/profiling-nested.xray" -o -
trackway stat --from-time 1 "$DATA/profiling/profiling-nested.xray"
gzip -nc "$DATA/profiling/profiling-parent.xray" | head -c 100 >cut.xray.gz
trackway check --json cut.xray.gz | grep -o '"rule":"[^"]*"'
