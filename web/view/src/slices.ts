// slices.ts - from slice to slice with the arrows.
// SPDX-License-Identifier: Apache-2.0
import type { Near, Place, Server } from "./api";
import { unlessEarly, type Context } from "./panels/context";

const DETAIL = 1000; // pixels that a slice's inside is looked at with

/** The longest slice directly inside another. */
async function inside(server: Server, place: Place): Promise<Near | null> {
	const { begin, end } = await server.slice(place);
	const window = await server.window({ from: begin, to: Math.max(end, begin + 1) }, DETAIL, [place.track]);
	let best: Near | null = null;
	for (const row of window.rows) {
		if (row.kind !== "slices" || row.lane !== place.lane || row.depth !== place.depth + 1)
			continue;
		for (let i = 0; i < row.begin.length; i++)
			if (row.begin[i]! >= begin && row.end[i]! <= end && (!best || row.end[i]! - row.begin[i]! > best.end - best.begin))
				best = { track: row.track, lane: row.lane, depth: row.depth, item: row.item[i]!, begin: row.begin[i]!, end: row.end[i]! };
	}
	return best;
}

async function around(server: Server, place: Place): Promise<Near | null> {
	const caller = (await server.slice(place)).callers[0];
	return caller ? { ...place, depth: caller.depth, item: caller.item, begin: caller.begin, end: caller.begin + caller.duration } : null;
}

/** The slice that is drawn nearest to the middle of the picture. */
function first(context: Context): Near | null {
	const { boxes } = context.timeline;
	const { from, to } = context.store.state.view;
	const away = (box: Near) => Math.abs((Math.max(box.begin, from) + Math.min(box.end, to)) / 2 - (from + to) / 2);
	return boxes.filter(box => !box.point && !context.timeline.isStrip(box.track)).sort((a, b) => a.y - b.y || away(a) - away(b))[0] ?? null;
}

export type Way = "left" | "right" | "up" | "down";

export async function go(context: Context, way: Way): Promise<void> {
	const { slice } = context.store.state;
	const { server } = context;
	const near = !slice ? first(context) : await unlessEarly(context, way === "up" ? around(server, slice)
		: way === "down" ? inside(server, slice) : server.neighbour(slice, way === "left" ? "previous" : "next"));
	if (near === "early")
		return;
	if (near)
		context.open(near, { from: near.begin, to: near.end });
	else
		context.say({ left: "No earlier slice at this depth", right: "No later slice at this depth", up: "Nothing calls this", down: "This calls nothing" }[way]);
}
