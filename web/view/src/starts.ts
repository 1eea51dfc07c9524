// starts.ts - when each of several traces begins on the axis: a person may move one against the others.
// SPDX-License-Identifier: Apache-2.0
import type { Stretch, Trace, TraceFile } from "./api";

/** Those that are for the files of this trace; empty where they are none, or where all begin as the command has it. */
export function startsFor(files: TraceFile[], starts: number[]): number[] {
	const fine = starts.length === files.length && files.length > 1 && Math.min(...starts) === 0 && starts.every(Number.isSafeInteger);
	return fine && starts.some((start, i) => start !== files[i]!.begin) ? starts : [];
}

/** Where files begin once one is moved to a time, and by how much the axis begins earlier then: one of them begins at 0. */
export function movedTo(starts: number[], file: number, at: number): { starts: number[]; by: number } {
	const wanted = starts.map((start, i) => (i === file ? Math.round(at) : start));
	const first = Math.min(...wanted);
	return { starts: wanted.map(start => start - first), by: 0 - first };
}

const LEAST_SPAN = 20; // ns that are shown of what has no length

/** All that there is to see: what the command line leaves out by time is nothing. Its times are of another axis once a file is moved. */
export function spanOf({ files, fromTime, end }: Trace): Stretch {
	const moved = files.some(({ start, begin }) => start !== begin);
	const from = moved || fromTime === null || fromTime >= end ? 0 : fromTime;
	return { from, to: Math.max(from + LEAST_SPAN, end) };
}

/** Whether a view has all of that. */
export function isAll(view: Stretch, trace: Trace): boolean {
	return view.from <= spanOf(trace).from && view.to >= trace.end;
}

/** Whether some file begins later than another. */
export function areApart(trace: Trace): boolean {
	return trace.files.some(({ start }) => start !== 0);
}
