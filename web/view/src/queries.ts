// queries.ts - SQL that has the numbers of a panel: for the server, and for who copies it as a command.
// SPDX-License-Identifier: Apache-2.0
import type { Stretch, Trace, Track } from "./api";
import { BYTE } from "./format";

/** One line: who pastes a command has any shell. */
const lineOf = (parts: TemplateStringsArray, ...values: string[]) => String.raw({ raw: parts.map(part => part.replace(/\s*\n\s*/g, " ")) }, ...values);

function hexOf(words: string): string {
	const bytes = [...words].flatMap(sign => (BYTE.test(sign) ? [sign.charCodeAt(0) & 0xff] : [...new TextEncoder().encode(sign)]));
	return bytes.map(byte => byte.toString(16).padStart(2, "0")).join("");
}

/** What is no UTF-8 is told by its bytes. */
function text(words: string): string {
	return BYTE.test(words) ? `cast(x'${hexOf(words)}' as text)` : `'${words.replaceAll("'", "''")}'`;
}

/** A number of each file, of which the table has times of its own clock. */
function each(trace: Trace, table: string, of: (file: { start: number; begin: number }) => number): string {
	const [first, ...more] = trace.files.map(of);
	if (first === undefined || more.every(number => number === first))
		return String(first ?? 0);
	return `case ${table}.file ${trace.files.map(({ path }, i) => `when ${text(path)} then ${of(trace.files[i]!)}`).join(" ")} end`;
}

/** A condition for tracks of a process, by what the column says of each; p is the process. */
function among(trace: Trace, table: string, tracks: Track[], column: string, say: (track: Track) => string): string {
	const found = new Map<string, string[]>();
	for (const track of tracks) {
		const file = trace.files.length > 1 ? `${table}.file = ${text(trace.files[track.file]?.path ?? "")} and ` : "";
		const where = `${file}${track.pid === null ? "" : `p.pid = ${track.pid} and `}`;
		found.set(where, [...found.get(where) ?? [], say(track)]);
	}
	return [...found].map(([where, said]) => `${where}${column} in (${said.join(", ")})`).join(" or ");
}

/** What threads did: a row for each thread and state. A state that has not ended has -1 as its duration. threads: []: all. */
export function statesQuery(trace: Trace, stretch: Stretch, threads: Track[] = []): string {
	const from = each(trace, "s", ({ start }) => Math.floor(stretch.from) - start);
	const to = each(trace, "s", ({ start }) => Math.ceil(Math.min(stretch.to, trace.end)) - start);
	const end = `iif(s.dur < 0, ${to}, min(s.ts + s.dur, ${to}))`;
	const chosen = threads.length ? ` and (${among(trace, "s", threads, "t.tid", ({ tid }) => tid ?? "null")})` : "";
	return lineOf`select coalesce(p.name || ' / ', '') || coalesce(t.name, 'thread ' || t.tid) as thread, s.state, count(*) as n,
	sum(${end} - max(s.ts, ${from})) as total, s.utid
from thread_state s left join thread t using (utid) left join process p using (upid)
where s.ts < ${to} and ${end} > ${from}${chosen}
group by s.utid, s.state order by coalesce(s.state in ('S', 'D', 'T'), 0), total desc`;
}

/** What counters were: a row for each series, as summed() has it. Of one time the last is the value. counters: []: all. */
export function countersQuery(trace: Trace, stretch: Stretch, counters: Track[] = []): string {
	const whole = stretch.to >= trace.end;
	const from = each(trace, "c", ({ start }) => Math.floor(stretch.from) - start);
	const to = each(trace, "c", ({ start }) => Math.ceil(Math.min(stretch.to, trace.end)) - start);
	const least = trace.fromTime === null ? "" : ` and c.ts >= ${each(trace, "c", ({ begin }) => trace.fromTime! - begin)}`;
	const most = trace.toTime === null ? "" : ` and c.ts < ${each(trace, "c", ({ begin }) => trace.toTime! - begin)}`;
	// Of a runtime's counters of threads the number is the thread's; "?" has none, and a counter whose number no thread has.
	const isOf = "(x.tid = t.counter_id or (x.tid is null and t.counter_id < 0))";
	const ofThread = `(select ' ' || x.name from thread x where t.name = 'thread CPU' and x.upid = t.upid and ${isOf})`;
	const called = `t.name || coalesce(${ofThread}, iif(t.counter_id, ' ' || t.counter_id, ''))`;
	const chosen = counters.length ? ` where ${among(trace, "t", counters, called, ({ name }) => text(name))}` : "";
	return lineOf`with sample as (
	select *, max(0, min(coalesce(next, till), till) - max(ts, since)) as wide,
		row_number() over (partition by track_id order by next is ts, ts) as nth, row_number() over (partition by track_id order by ts desc, id desc) as back
	from (
		select c.track_id, c.id, c.ts, c.value, ${from} as since, ${to} as till, lead(c.ts) over (partition by c.track_id order by c.ts, c.id) as next
		from counter c where c.ts ${whole ? "<=" : "<"} ${to}${least}${most})
	where next > since or next is null or ts >= since)
select coalesce(p.name || ' / ', '') || ${called} as counter, t.series, max(iif(nth = 1, value, null)) as first,
	min(value) as min, coalesce(sum(1.0 * value * wide) / nullif(sum(wide), 0), max(iif(nth = 1, value, null))) as "mean over time",
	max(value) as max, max(iif(back = 1, value, null)) as last
from sample s join counter_track t on t.id = s.track_id left join process p using (upid)${chosen}
group by s.track_id order by t.id`;
}
