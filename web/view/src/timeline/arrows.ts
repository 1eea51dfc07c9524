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
		const top = scene.layout.pinnedHeight;
		context.save();
		context.beginPath();
		context.rect(0, top, scene.width, scene.height - top);
		context.clip();
		this.draws(context, scene, this.all, scene.theme.muted, 1);
		this.draws(context, scene, this.chosen, scene.theme.accent, 1.75);
		context.restore();
	}

	private draws(context: CanvasRenderingContext2D, scene: Scene, flows: Flow[], ink: string, thick: number): void {
		context.strokeStyle = context.fillStyle = ink;
		context.lineWidth = thick;
		for (const { name, from, to } of flows) {
			const y0 = heightOf(scene, from);
			const y1 = heightOf(scene, to);
			if (y0 === null || y1 === null)
				continue;
			const arrow = { name, x0: xOf(scene, from.time), y0, x1: xOf(scene, to.time), y1 };
			if (Math.max(arrow.x0, arrow.x1) < 0 || Math.min(arrow.x0, arrow.x1) > scene.width)
				continue;
			this.drawn.push(arrow);
			curve(context, arrow);
		}
	}
}

/** The middle of the row of an end; of what is closed, the middle of the line that stands for it. */
function heightOf(scene: Scene, end: FlowEnd): number | null {
	const lines = scene.layout.lines;
	const found: Line | undefined = lines.find(line => line.track.id === end.track && !line.group) ??
		lines.find(line => line.group && line.closed && line.track.id === scene.parent(end.track));
	if (!found)
		return null;
	const top = found.y - scene.scroll + scene.layout.pinnedHeight;
	if (found.group || found.closed || !end.place || end.place.track !== found.track.id)
		return top + found.height / 2;
	return top + PAD + rowAt(found.track, end.place.lane, end.place.depth) * ROW + ROW / 2;
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
