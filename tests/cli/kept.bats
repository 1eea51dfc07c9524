#!/usr/bin/env bats
# kept.bats - what a trace states is kept: flows, asynchronous operations, instants, and the round trip.
# SPDX-License-Identifier: Apache-2.0

load helpers

arrows() { # FILE
	trackway sql --csv "$1" "select f.ts_out, f.ts, a.name as a, b.name as b from flow f left join slice a on a.id = slice_out
		left join slice b on b.id = slice_in order by f.ts, f.ts_out" | tail -n +2
}

# The Trace Event Format: an end without "bp":"e" binds to the next slice of the thread, with it to the one around it.
@test "a flow ends in the next slice, or in the one around its end" {
	printf '1000,3000,A,B\n1000,5000,A,B\n' | diff - <(arrows "$DATA/chrome/flowbp.json")
	trackway convert "$DATA/chrome/flowbp.json" -o out.json
	printf '1000,3000,A,B\n1000,5000,A,B\n' | sed 's/000,\(.\)000/000,\1000/' >expected
	arrows out.json | cut -d, -f3- | diff - <(cut -d, -f3- expected)
	[ "$(trackway sql --csv out.json 'select count(*) from flow where slice_in is not null' | tail -1)" = 2 ]
	[ "$(grep -c '"ph":"f".*"bp":"e"' out.json)" = 1 ]
}

@test "the next slice may begin at the very time of the end, and be written before it; without one there is none" {
	cat >equal.json <<-'END'
		[{"ph":"X","ts":0,"dur":5,"pid":1,"tid":1,"name":"from"},{"ph":"s","ts":1,"pid":1,"tid":1,"name":"f","id":1},
		 {"ph":"X","ts":10,"dur":9,"pid":1,"tid":2,"name":"to"},{"ph":"X","ts":10,"dur":5,"pid":1,"tid":2,"name":"inner"},
		 {"ph":"f","ts":10,"pid":1,"tid":2,"name":"f","id":1},{"ph":"X","ts":12,"dur":1,"pid":1,"tid":2,"name":"late"},
		 {"ph":"s","ts":2,"pid":1,"tid":1,"name":"g","id":2},{"ph":"f","ts":13,"pid":1,"tid":3,"name":"g","id":2},
		 {"ph":"s","ts":3,"pid":1,"tid":1,"name":"h","id":2},{"ph":"f","ts":11,"pid":1,"tid":2,"name":"h","id":2},
		 {"ph":"i","ts":11.5,"pid":1,"tid":2,"name":"no slice","s":"t"}]
	END
	printf '1000,10000,from,to\n3000,11000,from,late\n2000,13000,from,\n' | diff <(sort) <(arrows equal.json | sort)
	# Of a window the arrows that arrive in it, wherever their slice is.
	[ "$(trackway sql --csv equal.json 'select count(*) from flow where ts between 10500 and 11500 and slice_in is not null' | tail -1)" = 1 ]
}

# Fuchsia's format: a flow event is of the duration that is open on its thread.
@test "flows of FXT bind to the slice around" {
	printf '50,250,send,recv\n250,610,recv,done\n' | diff - <(arrows "$DATA/fxt/flow3.fxt")
}

# Plain ids and "global" ones are of all processes, "local" ones of one.
@test "asynchronous operations: ids of one process, and of all" {
	cat >expected <<-'END'
		url_headers,3000
		url_request,7000
		x,4000
		x,7000
		y,5000
	END
	durations() { trackway sql --csv "$1" 'select name, dur from async_slice order by name, dur' | tail -n +2; }
	durations "$DATA/chrome/nestasync.json" | diff expected -
	trackway convert "$DATA/chrome/nestasync.json" -o out.json
	durations out.json | diff expected -
	cat >plain.json <<-'END'
		[{"ph":"b","ts":1,"pid":1,"tid":1,"name":"a","id":"0x5"},{"ph":"e","ts":4,"pid":2,"tid":2,"name":"a","id":5}]
	END
	[ "$(durations plain.json)" = 'a,3000' ]
}

@test "sql: asynchronous instants, and counters that are larger than SQLite's integers" {
	trackway sql --csv "$DATA/fxt/async_inst.fxt" 'select name, category, ts, async_id, args ->> "step" from async_instant' | grep -qx 'op,io,50,7,1'
	trackway sql --csv "$DATA/fxt/ctr_threads.fxt" 'select value = 18446744073709551615.0, typeof(value) from counter where ts = 300' |
		grep -qx '1,real'
}
