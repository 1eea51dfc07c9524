// command.ts - the `trackway` command that shows what the page shows.
// SPDX-License-Identifier: Apache-2.0
import { whole, type Given, type Stretch, type Trace, type TraceFile, type Track } from "./api";
import { operand, shell } from "./format";
import { countersQuery, statesQuery } from "./queries";
import { areApart } from "./starts";
import { write, type State } from "./state";

// ---- Options of the command line that opened the page ----

const TIMES = ["from-time", "to-time"];
/** Filters by the numbers and names of a file: `merge` may give threads others. */
const WHO = ["thread", "process", "provider"];
const OF_SLICES = ["function", "category", "min-duration"];
const FILTERS = [...TIMES, ...WHO, ...OF_SLICES];

/** Commands that take several files, each from its own start. */
const OF_MANY = ["stat", "flame"];

const line = (words: string[]) => words.map(shell).join(" ");

function wordsOf(options: Given[]): string[] {
	return options.flatMap(({ name, value }) => (value === null ? [`--${name}`] : [`--${name}`, value]));
}

function given(trace: Trace, names: string[]): Given[] {
	return trace.options.filter(({ name }) => names.includes(name));
}

/** Filters of the command line, as they stand there; "": none. */
export function givenFilters(trace: Trace): string {
	return wordsOf(given(trace, FILTERS)).join(" ");
}

/** Options about what files are and what they call things. */
function inputsOf(trace: Trace): Given[] {
	return trace.options.filter(({ name }) => ![...FILTERS, "diff"].includes(name));
}

/** Says which options leave out nothing of SQL's tables; null: there is none. */
export function ignoredBySql(trace: Trace): string | null {
	const names = [...new Set(given(trace, FILTERS).map(({ name }) => `--${name}`))];
	return names.length ? `The tables of SQL have all of the trace: ${names.join(", ")} of the command line leave${names.length > 1 ? "" : "s"} out nothing here.` : null;
}

// ---- What of the trace ----

function pathsOf(files: TraceFile[]): string[] {
	return files.map(file => operand(file.path));
}

/** --offset, of files that begin later than others. */
function offsetsOf(files: TraceFile[], start: (file: TraceFile) => number): string[] {
	return files.filter(file => start(file) !== 0).flatMap(file => ["--offset", `${operand(file.path)}=${start(file)}ns`]);
}

/** The stretch as the server takes it, on the clock of a file that begins at a time of the axis; null: all there is. */
function asked(trace: Trace, stretch: Stretch | null, start: number): Stretch | null {
	const it = stretch && whole(stretch);
	return it && (it.from > 0 || it.to < trace.end) ? { from: Math.max(0, it.from - start), to: it.to - start } : null;
}

/** Both what the command line leaves out by time, on its axis, and a stretch, on that of the page: as on the clock of a file. */
function cut(trace: Trace, stretch: Stretch | null, { start, begin }: { start: number; begin: number }): { from: number; to: number } {
	const it = asked(trace, stretch, start) ?? { from: 0, to: Infinity };
	const from = Math.max(it.from, (trace.fromTime ?? 0) - begin);
	return { from, to: Math.max(from, 1, Math.min(it.to, (trace.toTime ?? Infinity) - begin)) };
}

function timesOf({ from, to }: Stretch): string[] {
	return [...from > 0 ? ["--from-time", `${from}ns`] : [], ...to < Infinity ? ["--to-time", `${to}ns`] : []];
}

/** Whether the page has moved a file. */
function hasMoved(files: TraceFile[]): boolean {
	return files.some(({ start, begin }) => start !== begin);
}

/** Whether times of the command line are of another axis than the page's, which has moved a file: no option has both. */
function isMoved({ files, fromTime, toTime }: Trace): boolean {
	return (fromTime !== null || toTime !== null) && hasMoved(files);
}

/** What shows just what the page does; or why nothing does, in words. */
export type Command = string | { why: string };

/** What has been read and is gone: standard input, what a shell gives in its place, and what is no file of its own. */
function isGone({ path, size }: TraceFile): boolean {
	return path === "-" || size === null || /^\/(dev\/(fd\/|stdin$)|proc\/)/.test(path);
}

const MOVED = "--from-time and --to-time are times of before a file was moved";
const ALIKE = "other threads have the same numbers, and no options choose these alone";

/** A command that reads some of the files. */
function reading(files: TraceFile[], words: string[]): Command {
	const gone = files.find(isGone);
	return gone ? { why: `${gone.path === "-" ? "standard input" : gone.path} was read once, and no command can read it again` } : line(words);
}

/** Options that choose some threads of all; null: none choose just these. */
function threadsOf(chosen: Track[], all: Track[]): string[] | null {
	if (!chosen.length || chosen.length === all.length)
		return [];
	const tids = new Set(chosen.map(track => track.tid));
	const pids = new Set(chosen.map(track => track.pid));
	const alike = all.filter(track => !chosen.includes(track) && tids.has(track.tid));
	const threads = ["--thread", [...tids].join(",")];
	if (!alike.length)
		return threads;
	const known = !pids.has(null) && alike.every(track => !pids.has(track.pid));
	return known ? [...threads, "--process", [...pids].join(",")] : null;
}

function isThread(track: Track | undefined): track is Track {
	return track?.kind === "thread";
}

/** Whether `merge` gives some threads others numbers than their files have. */
function areNumbersShared(all: Track[]): boolean {
	const shared = (of: (track: Track) => string | null) =>
		all.some(one => all.some(other => one.file !== other.file && of(one) === of(other)));
	return shared(track => track.tid) || shared(track => track.pid);
}

/** Filters of the command line but for times, and those of chosen threads, which are some of its own. */
function filtersOf(trace: Trace, threads: string[], names: string[]): string[] {
	return [...wordsOf(given(trace, names).filter(({ name }) => !threads.includes(`--${name}`))), ...threads];
}

// ---- Commands ----

/** `trackway NAME` of a stretch of the trace, and of some tracks. Of files that do not begin together a command has the whole. */
export function commandOf(name: string, trace: Trace, stretch: Stretch, tracks: number[], more: string[] = []): Command {
	const chosen = tracks.map(id => trace.list[id]).filter(isThread);
	const own = new Set(chosen.map(track => track.file));
	const alone = chosen.length && own.size === 1 ? trace.files[chosen[0]!.file] : undefined;
	const all = trace.list.filter(isThread).filter(track => !alone || own.has(track.file));
	const threads = threadsOf(chosen, all);
	if (!threads || isMoved(trace))
		return { why: threads ? MOVED : ALIKE };
	const files = alone ? [alone] : trace.files;
	const times = timesOf(cut(trace, stretch, alone ?? { start: 0, begin: 0 }));
	const whole = !times.length;
	const together = files.length === 1 || OF_MANY.includes(name) && (whole || !areApart(trace));
	if (together)
		return reading(files, ["trackway", name, ...times, ...filtersOf(trace, threads, [...WHO, ...OF_SLICES]),
			...wordsOf(inputsOf(trace)), ...more, ...pathsOf(files)]);
	if (threads.length && areNumbersShared(all))
		return { why: ALIKE };
	const offsets = alone ? [] : offsetsOf(files, file => file.start);
	const first = [...wordsOf(given(trace, WHO)), ...wordsOf(inputsOf(trace))];
	const merged = reading(files, ["trackway", "merge", "--to", "fxt", ...first, ...offsets, ...pathsOf(files)]);
	return typeof merged !== "string" ? merged : `${merged} | ` +
		line(["trackway", name, ...times, ...filtersOf(trace, threads, OF_SLICES), ...more, "-"]);
}

/** `trackway dump` of a stretch of one of the files, on its own clock. */
export function dumpCommand(trace: Trace, number: number, stretch: Stretch, tracks: number[]): Command {
	const file = trace.files[number]!;
	const chosen = tracks.map(id => trace.list[id]).filter(isThread);
	const threads = threadsOf(chosen, trace.list.filter(isThread).filter(track => track.file === number));
	if (!threads || isMoved(trace))
		return { why: threads ? MOVED : ALIKE };
	return reading([file], ["trackway", "dump", ...timesOf(cut(trace, stretch, file)),
		...filtersOf(trace, threads, [...WHO, ...OF_SLICES]), ...wordsOf(inputsOf(trace)), operand(file.path)]);
}

/** `trackway sql` with a query: no filter leaves out anything in its tables. */
export function sqlCommand(trace: Trace, query: string): Command {
	const end = query.startsWith("-") ? ["--"] : []; // of the options: a comment is none
	return reading(trace.files, ["trackway", "sql", ...wordsOf(inputsOf(trace)), ...end, ...pathsOf(trace.files), query]);
}

/** What the tab "States" shows: no filter leaves out anything in the tables. */
export function statesCommand(trace: Trace, stretch: Stretch, tracks: number[]): Command {
	const chosen = tracks.map(id => trace.list[id]).filter(isThread);
	return sqlCommand(trace, statesQuery(trace, stretch, chosen));
}

/** What the tab "Counters" shows: a value holds until the next, also one of before the stretch. */
export function countersCommand(trace: Trace, stretch: Stretch, tracks: number[]): Command {
	const chosen = new Set(tracks);
	const all = trace.list.filter(({ kind }) => kind === "counter");
	const called = ({ file, pid, name }: Track) => [file, pid, name].join();
	const names = new Set(all.filter(({ id }) => chosen.has(id)).map(called));
	if (all.some(track => chosen.size && !chosen.has(track.id) && names.has(called(track))))
		return { why: "another counter of the process has the same name" };
	const filter = trace.options.find(({ name }) => [...WHO, ...OF_SLICES].includes(name));
	if (filter)
		return { why: `--${filter.name} leaves out samples that the tables of SQL have` };
	return sqlCommand(trace, countersQuery(trace, stretch, all.filter(({ id }) => chosen.has(id))));
}

/** `trackway diff` of the first two files in a stretch, null: in all; the files must have one part of their clocks. */
export function diffCommand(trace: Trace, stretch: Stretch | null, picture = false): Command {
	const files = trace.files.slice(0, 2);
	const [before, after] = files.map(file => timesOf(cut(trace, stretch, file)));
	if (before?.join() !== after?.join())
		return { why: "the time range is not the same part of both files" };
	return reading(files, ["trackway", "diff", ...picture ? ["--flame", "-o", "diff.svg"] : [], ...before ?? [],
		...filtersOf(trace, [], [...WHO, ...OF_SLICES]), ...wordsOf(inputsOf(trace)), ...pathsOf(files)]);
}

function viewOf(trace: Trace, state: State, options: string[], more: string[]): Command {
	return reading(trace.files, ["trackway", "view", ...more, "--state", write(state, trace.list), ...options, ...offsetsOf(trace.files, file => file.begin),
		...pathsOf(trace.files)]);
}

/** `trackway view` of the same: what its state says is of the files where they were opened. */
export function viewCommand(trace: Trace, state: State): Command {
	return viewOf(trace, state, wordsOf(trace.options), []);
}

/** Writes the page as a file, of what is in sight and selected. */
export function exportCommand(trace: Trace, state: State): Command {
	const { view, selection, told } = state;
	const shown = [view, ...selection ? [selection] : [], ...told ? [told] : []];
	const times = timesOf(cut(trace, { from: Math.min(...shown.map(each => each.from)), to: Math.max(...shown.map(each => each.to)) }, { start: 0, begin: 0 }));
	const options = hasMoved(trace.files) ? wordsOf(trace.options) : [...times, ...wordsOf(trace.options.filter(({ name }) => !TIMES.includes(name)))];
	return viewOf(trace, state, options, ["--export", "view.html"]);
}
