// arrows.ts - flows: from the slice where one begins to that where it goes on.
// SPDX-License-Identifier: Apache-2.0
import type { Flow, FlowEnd, Server, Stretch } from "../api";
import { xOf, type Scene } from "./draw";
import { PAD, ROW, rowAt, type Line } from "./layout";

const MOST = 500; // flows of a window
const PAUSE = 200; // ms that a window rests before its flows are asked for
const HEAD = 6; // pixels
const BEND = 24;

export interface Arrow {
	name: string;
	x0: number;
	y0: number;
	x1: number;
	y1: number;
}

export class Arrows {
	/** Those of the chosen slice. */
	private chosen: Flow[] = [];
	/** Those of the window, where they are asked for. */
	private all: Flow[] = [];
	private of: Stretch | null = null;
	private timer = 0;
	drawn: Arrow[] = [];

	constructor(private readonly server: Server, private readonly changed: () => void) { }

	choose(flows: Flow[]): void {
		this.chosen = flows;
		this.changed();
	}

	/** What is known is of another axis. */
	outdate(): void {
		this.chosen = this.all = [];
		this.of = null;
	}

	/** Says which window is looked at, or that none is asked for. */
	want(view: Stretch, on: boolean): void {
		if (!on) {
			this.all = [];
			this.of = null;
			return;
		}
		if (this.of && this.of.from === view.from && this.of.to === view.to)
			return;
		this.of = view;
		clearTimeout(this.timer);
		this.timer = setTimeout(() => void this.fetch(view), PAUSE);
	}

	private async fetch(view: Stretch): Promise<void> {
		const answer = await this.server.flows(view, MOST).catch(() => null);
		if (answer && this.of === view) {
			this.all = answer.flows;
			this.changed();
		}
	}

	draw(context: CanvasRenderingContext2D, scene: Scene): void {
		this.drawn = [];
		const all = this.placed(scene, this.all);
		const chosen = this.placed(scene, this.chosen);
		// Pinned tracks cover what is below them, but for arrows of their own.
		for (const pinned of [false, true]) {
			const top = pinned ? 0 : scene.layout.pinnedHeight;
			context.save();
			context.beginPath();
			context.rect(0, top, scene.width, scene.height - top);
			context.clip();
			draws(context, all, pinned, scene.theme.muted, 1);
			draws(context, chosen, pinned, scene.theme.accent, 1.75);
			context.restore();
		}
	}

	private placed(scene: Scene, flows: Flow[]): Placed[] {
		const found = flows.flatMap(flow => placeOf(scene, flow) ?? [])
			.filter(({ x0, x1 }) => Math.max(x0, x1) >= 0 && Math.min(x0, x1) <= scene.width);
		this.drawn.push(...found.map(({ name, x0, y0, x1, y1 }) => ({ name, x0, y0, x1, y1 })));
		return found;
	}
}

/** An arrow, and whether it is over pinned tracks: one of its ends is on one. */
interface Placed extends Arrow {
	pinned: boolean;
}

/** Null where it cannot be drawn. */
function placeOf(scene: Scene, { name, from, to }: Flow): Placed | null {
	const [begin, end] = [from, to].map(each => ({ pinned: pinnedHeightOf(scene, each), own: heightOf(scene, each) })) as [Heights, Heights];
	const both = begin.pinned !== null && end.pinned !== null;
	const choose = ({ pinned, own }: Heights) => (pinned !== null && (both || own === null || !inSight(scene, own)) ? { y: pinned, pinned: true }
		: { y: own, pinned: false });
	const ends = [choose(begin), choose(end)];
	const pinned = ends.some(each => each.pinned);
	const [y0, y1] = ends.map(({ y }) => y) as [number | null, number | null];
	// What is scrolled away above is behind the pinned tracks.
	const hidden = pinned && ends.some(each => !each.pinned && each.y !== null && each.y < scene.layout.pinnedHeight);
	return y0 === null || y1 === null || hidden ? null : { name, x0: xOf(scene, from.time), y0, x1: xOf(scene, to.time), y1, pinned };
}

function draws(context: CanvasRenderingContext2D, arrows: Placed[], pinned: boolean, ink: string, thick: number): void {
	context.strokeStyle = context.fillStyle = ink;
	context.lineWidth = thick;
	arrows.filter(arrow => arrow.pinned === pinned).forEach(arrow => curve(context, arrow));
}

/** Where an end is: on the track that is pinned, and on the same among all. Null: it is not there. */
interface Heights {
	pinned: number | null;
	own: number | null;
}

function inSight({ layout, height }: Scene, y: number): boolean {
	return y >= layout.pinnedHeight && y < height;
}

function pinnedHeightOf({ layout }: Scene, end: FlowEnd): number | null {
	const found = layout.pinned.find(({ track }) => track.id === end.track);
	return found ? within(found, end, found.y) : null;
}

/** The middle of the row of an end; of what is closed, the middle of the line that stands for it. */
function heightOf(scene: Scene, end: FlowEnd): number | null {
	const lines = scene.layout.lines;
	const found: Line | undefined = lines.find(line => line.track.id === end.track && !line.group) ??
		lines.find(line => line.group && line.closed && line.track.id === scene.parent(end.track));
	return found ? within(found, end, found.y - scene.scroll + scene.layout.pinnedHeight) : null;
}

function within(line: Line, end: FlowEnd, top: number): number {
	if (line.group || line.closed || !end.place || end.place.track !== line.track.id)
		return top + line.height / 2;
	return top + PAD + rowAt(line.track, end.place.lane, end.place.depth) * ROW + ROW / 2;
}

function curve(context: CanvasRenderingContext2D, { x0, y0, x1, y1 }: Arrow): void {
	const bend = Math.min(BEND * 4, Math.max(BEND, Math.abs(x1 - x0) / 2));
	context.beginPath();
	context.moveTo(x0, y0);
	context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - HEAD, y1);
	context.stroke();
	context.beginPath();
	context.moveTo(x1, y1);
	context.lineTo(x1 - HEAD - 1, y1 - HEAD / 2 - 1);
	context.lineTo(x1 - HEAD - 1, y1 + HEAD / 2 + 1);
	context.fill();
}
