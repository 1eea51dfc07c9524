# cut.bats - parts of traces: they stand alone, and say what the filters say of the whole.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

# what stat says of a part is what it says of the whole with the same filters
same_stat() {
	local file=$1 part=$BATS_TEST_TMPDIR/part.${1##*.}
	shift
	trackway cut "$@" "$file" -o "$part"
	trackway check "$part"
	trackway stat --json "$@" "$file" >"$BATS_TEST_TMPDIR/whole"
	trackway stat --json "$part" >"$BATS_TEST_TMPDIR/part"
	[ -s "$BATS_TEST_TMPDIR/part" ]
	cmp "$BATS_TEST_TMPDIR/whole" "$BATS_TEST_TMPDIR/part"
}

@test "cut: a time window of an FXT archive" {
	same_stat "$DATA/fxt/streaming.fxt" --from-time 10ms --to-time 20ms
}

@test "cut: a thread, a category of an FXT archive" {
	same_stat "$DATA/fxt/oneshot_all.fxt" --thread 1001
	same_stat "$DATA/fxt/oneshot_all.fxt" --category 'cat*'
}

@test "cut: a thread of an XRay log" {
	same_stat "$DATA/xray/v5.xray" --thread 101
}

@test "cut: wants a filter and an output" {
	run trackway cut "$DATA/fxt/oneshot_all.fxt" -o "$BATS_TEST_TMPDIR/all.fxt"
	[ "$status" -eq 2 ]
	[ ! -e "$BATS_TEST_TMPDIR/all.fxt" ]
	run trackway cut --thread 1001 "$DATA/fxt/oneshot_all.fxt"
	[ "$status" -eq 2 ]
}

@test "cut: from a pipe to a compressed file" {
	cat "$DATA/fxt/oneshot_all.fxt" | trackway cut --thread 1001 - -o "$BATS_TEST_TMPDIR/part.fxt.zst"
	trackway cut --thread 1001 "$DATA/fxt/oneshot_all.fxt" -o - | cmp - <(zstd -dc "$BATS_TEST_TMPDIR/part.fxt.zst")
}
