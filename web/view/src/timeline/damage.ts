// damage.ts - what is damaged, lost or empty at a place of the picture, in words.
// SPDX-License-Identifier: Apache-2.0
import type { Finding, Lost, Trace } from "../api";
import { make, pairs } from "../dom";
import { bytes, time } from "../format";
import { plain } from "./text";

/** What was found where the bytes of a lost stretch are. */
export function findingOf(lost: Lost, findings: Finding[]): Finding | null {
	const there = findings.filter(({ offset }) => offset >= lost.offset && offset < lost.offset + Math.max(1, lost.bytes));
	// A buffer that is cut off is told where it begins.
	const cut = findings.findLast(({ offset, rule }) => offset < lost.offset && rule.endsWith("-truncated"));
	return there.find(finding => finding.time === lost.from) ?? there[0] ?? cut ?? null;
}

/** Findings but for those of which it is known which track has lost something there. */
export function withoutTrack({ findings, lost }: Trace): Finding[] {
	const told = new Set(lost.filter(({ track }) => track !== null).map(each => findingOf(each, findings)));
	return findings.filter(finding => !told.has(finding));
}

/** Words for what is found; its file where there are several. */
export function tipOfFinding(finding: Finding, { unit, files }: Trace): Node[] {
	const file = files.length > 1 && files[finding.file] ? [["file", plain(files[finding.file]!.path)] as [string, string]] : [];
	return [make("strong", {}, finding.rule), make("div", {}, plain(finding.text)),
		pairs([["record at", `0x${finding.offset.toString(16)}`], ["time", time(finding.time ?? 0, unit)], ...file])];
}

/** The same for what is lost; `track`: what a person calls its track. */
export function tipOfLost(lost: Lost, { unit, findings }: Trace, track: string): Node[] {
	const found = findingOf(lost, findings);
	return [make("strong", {}, "Lost"), ...(found ? [make("div", {}, plain(found.text))] : []),
		pairs([["from", time(lost.from, unit)], ["to", time(lost.to, unit)], ["on", track], ["bytes", bytes(lost.bytes)],
			["at", `0x${lost.offset.toString(16)}`], ...(found ? [["rule", found.rule] as [string, string]] : [])])];
}

/** The lost stretch at a place, of a track or of all; null: of any. */
export function lostAt(trace: Trace, x: number, near: number, track: number | null, xOf: (time: number) => number): Lost | null {
	return trace.lost.find(lost => x >= xOf(lost.from) - near && x <= xOf(lost.to) + near &&
		(track === null || lost.track === null || lost.track === track)) ?? null;
}
