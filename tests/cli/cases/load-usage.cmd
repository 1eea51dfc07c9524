# load without a database, and with what is none
trackway load "$DATA/fxt/oneshot_all.fxt"
trackway load --to clickhouse://localhost "$DATA/fxt/oneshot_all.fxt"
trackway load --to clickhouse://a:b@c:d/e "$DATA/fxt/oneshot_all.fxt"
trackway load --to clickhouse://h/d --label host "$DATA/fxt/oneshot_all.fxt"
trackway load --to clickhouse://h/d --day 2024-02-30 "$DATA/fxt/oneshot_all.fxt"
trackway load --to clickhouse://h/d --id "it's" "$DATA/fxt/oneshot_all.fxt"
trackway load --to clickhouse://h/d --id x "$DATA/fxt/oneshot_all.fxt" "$DATA/fxt/idle.fxt"
