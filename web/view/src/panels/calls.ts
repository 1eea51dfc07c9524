// calls.ts - calls of one function among those that a table counts: the first and the slowest; and slices by name and time.
// SPDX-License-Identifier: Apache-2.0
import { isCalling, type Function, type Near, type Stretch } from "../api";
import { asked, type Context } from "./context";

const WIDEST = 16384; // pixels: the most that a window may have
const MOST = 4096; // tracks, as WIDEST
const AT_ONCE = 256; // tracks: what a request takes away from others stays short
const LOOKED_INTO = 8; // entries

/** How a window is asked for. */
interface Asked extends Stretch {
	width: number;
	tracks: number[];
	/** Slices that the server must read again are in it. */
	exact: boolean;
	signal?: AbortSignal;
}

/** A slice; several that are told as one if `count` is more than 1. */
interface Counted extends Near {
	count: number;
}

/** The slices and points of a name in a window; those that are told as one if the longest of them has the name. */
async function slicesOf(context: Context, name: string, { from, to, width, tracks, exact, signal }: Asked): Promise<Counted[]> {
	const { server } = context;
	const found: Counted[] = [];
	for (let first = 0; first < Math.min(tracks.length, MOST); first += AT_ONCE) {
		const { rows } = await server.window({ from, to }, width, tracks.slice(first, first + AT_ONCE), signal, exact);
		const number = server.names.indexOf(name);
		for (const row of rows) {
			if (row.kind === "values" || row.kind === "states")
				continue;
			const { track, lane, depth, begin, end } = row;
			row.name.forEach((each, i) => {
				if (each === number)
					found.push({ track, lane, depth, item: row.item[i]!, begin: begin[i]!, end: end[i]!, count: row.count[i]! });
			});
		}
	}
	return found;
}

/** The slices and points of a name that are there at a time. */
export async function slicesAt(context: Context, name: string, at: number, tracks: number[]): Promise<Near[]> {
	const found = await slicesOf(context, name, { from: at, to: at + 1, width: 1, tracks, exact: true });
	return found.filter(({ begin, end }) => begin <= at && end >= at);
}

/** The tracks that a table is of, else all that have calls. */
function among(context: Context): { stretch: Stretch; tracks: number[] } {
	const { stretch, tracks } = asked(context);
	const { list, unit } = context.trace();
	return { stretch, tracks: tracks.length ? tracks : list.filter(track => isCalling(track, unit)).map(({ id }) => id).slice(0, MOST) };
}

/** The first call of a function: one that begins in the stretch, else one that began before. */
export async function firstCall(context: Context, name: string): Promise<Near | null> {
	const { stretch, tracks } = among(context);
	const next = await context.server.occurrence(name, Math.floor(stretch.from) - 1, "next", tracks);
	return next && next.begin < stretch.to ? next : (await slicesAt(context, name, Math.ceil(stretch.from), tracks))[0] ?? null;
}

/** The slowest call of a function. Calls that are told as one with others are asked for by themselves; null: it is not known. */
export async function slowestCall(context: Context, { name, max }: Function, signal: AbortSignal): Promise<Near | null> {
	const { stretch, tracks } = among(context);
	const length = ({ begin, end }: Near) => Math.min(end, stretch.to) - Math.max(begin, stretch.from);
	const longest = async (asked: Asked) => (await slicesOf(context, name, asked)).filter(each => length(each) >= max)
		.sort((a, b) => length(b) - length(a));
	const found = await longest({ ...stretch, width: WIDEST, tracks, exact: false, signal });
	let best = found.find(({ count }) => count === 1);
	for (const each of best ? [] : found.slice(0, LOOKED_INTO))
		best ??= (await longest({ from: each.begin, to: each.end, width: WIDEST, tracks: [each.track], exact: true, signal }))
			.find(({ count }) => count === 1);
	return best ?? null;
}
