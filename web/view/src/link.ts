// link.ts - what tracks and slices are called in a link: as the trace has it, since numbers of the picture depend on filters.
// SPDX-License-Identifier: Apache-2.0
import type { Kind, Stretch, Track } from "./api";

/** What a link says of a slice. */
export interface Told extends Stretch {
	name: string;
}

/** A slice that a link names, of which it is not known yet where it is. */
export interface Sought extends Told {
	track: string;
	depth: number;
}

const LETTERS: Record<Kind, string> = { process: "p", thread: "t", cpu: "c", counter: "n", async: "a", other: "o" };

interface Names {
	of: string[];
	ids: Map<string, number>;
}

const known = new WeakMap<Track[], Names>();

/** Kind, file, process, and the number or the name in it: "t7.12" is thread 12 of process 7, "n1:7.memory" a counter of the second file. */
function nameOf({ kind, file, pid, tid, name }: Track): string {
	const own = kind === "process" ? [pid ?? name] : [pid ?? "", tid ?? name];
	return `${LETTERS[kind]}${file ? `${file}:` : ""}${own.map(part => part.replace(/[%,@]/g, encodeURIComponent)).join(".")}`;
}

/** Links of old have more of a name encoded. */
function decoded(word: string): string {
	try {
		return decodeURIComponent(word);
	} catch {
		return word;
	}
}

/** Those that would be called the same are counted. */
function namesOf(tracks: Track[]): Names {
	let names = known.get(tracks);
	if (names)
		return names;
	names = { of: [], ids: new Map() };
	const met = new Map<string, number>();
	for (const track of tracks) {
		const name = nameOf(track);
		const before = met.get(name) ?? 0;
		met.set(name, before + 1);
		names.of[track.id] = before ? `${name}~${before}` : name;
		names.ids.set(decoded(names.of[track.id]!), track.id);
	}
	known.set(tracks, names);
	return names;
}

/** A number where it is none of the trace's tracks. */
export function trackName(id: number, tracks: Track[]): string {
	return namesOf(tracks).of[id] ?? String(id);
}

/** The track of a name, or of a number, as links had once. "unknown": it is none yet; null: it is no name. */
export function trackOf(word: string, tracks: Track[]): number | "unknown" | null {
	if (/^\d+$/.test(word))
		return Number(word);
	return /^[ptcnao]./.test(word) ? namesOf(tracks).ids.get(decoded(word)) ?? "unknown" : null;
}

export function sliceName(track: string, depth: number, { from, to, name }: Told): string {
	return `${track}@${Math.round(from)}-${Math.round(to)}.${depth}.${name.replaceAll("%", "%25")}`;
}

export function soughtOf(word: string): Sought | null {
	const [, track, from, to, depth, name] = /^([^@]+)@(-?\d+)-(-?\d+)\.(\d+)\.([^]*)$/.exec(word) ?? [];
	try {
		return track === undefined ? null : { track, from: Number(from), to: Number(to), depth: Number(depth), name: decodeURIComponent(name!) };
	} catch {
		return null;
	}
}
