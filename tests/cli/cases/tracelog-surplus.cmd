# what stands behind the last field of a record is named, and the record kept; so are reasons that no document lists
trackway check "$DATA/tracelog/e1.log" | grep surplus
trackway dump "$DATA/tracelog/e1.log" 2>/dev/null
trackway repair "$DATA/tracelog/e1.log" -o mended.log 2>/dev/null
cat mended.log
trackway gc "$DATA/tracelog/t12-gcs-reason-word.log"
trackway gc --json "$DATA/tracelog/t12-gcs-reason-word.log" | head -n 1
trackway convert "$DATA/tracelog/t12-gcs-reason-word.log" --dialect d2 2>/dev/null | tail -n 2
