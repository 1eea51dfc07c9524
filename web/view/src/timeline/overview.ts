// overview.ts - the strip of the whole trace: how busy it is where, and which part is shown.
// SPDX-License-Identifier: Apache-2.0
import type { Server, Stretch, Trace } from "../api";
import { spanOf } from "../starts";
import type { Store } from "../state";
import type { Theme } from "./colours";

const COLUMNS = 512;
const TRACKS = 512;
const HANDLE = 6; // pixels

export class Overview {
	private busy = new Float64Array(COLUMNS);
	private most = 1;
	private asked = -1;
	/** What it is of. */
	private all: Stretch = { from: 0, to: 1 };
	private drag: { grip: "from" | "to" | "middle" | "new"; at: number; view: Stretch } | null = null;

	constructor(private readonly canvas: HTMLCanvasElement, private readonly store: Store, private readonly server: Server,
		private readonly changed: () => void) {
		canvas.addEventListener("pointerdown", event => this.down(event));
		canvas.addEventListener("pointermove", event => this.move(event));
		canvas.addEventListener("pointerup", () => { this.drag = null; });
	}

	/** What is known is of another axis. */
	outdate(): void {
		this.asked = -1;
	}

	/** Asks for the whole trace again when it has grown. */
	async update(trace: Trace): Promise<void> {
		this.all = spanOf(trace);
		if (this.asked === trace.generation)
			return;
		this.asked = trace.generation;
		const tracks = trace.list.filter(track => track.lanes.length && track.kind !== "counter").slice(0, TRACKS);
		if (!tracks.length)
			return;
		const all = this.all;
		const window = await this.server.window(all, COLUMNS, tracks.map(track => track.id), undefined, false, true).catch(() => null);
		const busy = new Float64Array(COLUMNS);
		for (const row of window?.rows ?? [])
			if (row.kind === "slices" && row.depth === 0)
				for (let i = 0; i < row.begin.length; i++)
					spread(busy, partOf(all, row.begin[i]!), partOf(all, row.end[i]!), row.busy[i]! / (all.to - all.from));
		this.busy = busy;
		this.most = Math.max(...busy) || 1;
		this.changed();
	}

	draw(context: CanvasRenderingContext2D, width: number, height: number, theme: Theme): void {
		context.fillStyle = theme.page;
		context.fillRect(0, 0, width, height);
		const { busy, most } = this;
		context.fillStyle = theme.counter;
		context.globalAlpha = 0.55;
		context.beginPath();
		context.moveTo(0, height);
		for (let i = 0; i < COLUMNS; i++) {
			const y = height - (busy[i] ? Math.max(1, (height - 8) * busy[i]! / most) : 0);
			context.lineTo(i * width / COLUMNS, y);
			context.lineTo((i + 1) * width / COLUMNS, y);
		}
		context.lineTo(width, height);
		context.fill();
		context.globalAlpha = 1;
		const { from, to } = this.store.state.view;
		const left = Math.max(0, partOf(this.all, from) * width);
		const right = Math.min(width, Math.max(left + 2, partOf(this.all, to) * width));
		context.fillStyle = theme.dark ? "#000000" : "#8a7d70";
		context.globalAlpha = theme.dark ? 0.5 : 0.22;
		context.fillRect(0, 0, left, height);
		context.fillRect(right, 0, width - right, height);
		context.globalAlpha = 1;
		context.fillStyle = theme.accent;
		context.fillRect(left, 0, 2, height);
		context.fillRect(right - 2, 0, 2, height);
	}

	private get span(): number {
		return this.all.to - this.all.from;
	}

	private at(event: PointerEvent): number {
		const box = this.canvas.getBoundingClientRect();
		return this.all.from + Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * this.span;
	}

	private down(event: PointerEvent): void {
		const at = this.at(event);
		const { view } = this.store.state;
		const near = HANDLE / this.canvas.getBoundingClientRect().width * this.span;
		const whole = view.from <= this.all.from && view.to >= this.all.to;
		const grip = Math.abs(at - view.from) < near ? "from" : Math.abs(at - view.to) < near ? "to"
			: at > view.from && at < view.to && !whole ? "middle" : "new";
		this.drag = { grip, at, view };
		this.canvas.setPointerCapture(event.pointerId);
	}

	private move(event: PointerEvent): void {
		if (!this.drag)
			return;
		const at = this.at(event);
		const { grip, at: start, view } = this.drag;
		const next = grip === "middle" ? { from: view.from + at - start, to: view.to + at - start }
			: grip === "from" ? { from: at, to: view.to } : grip === "to" ? { from: view.from, to: at }
				: { from: start, to: at };
		if (next.from !== next.to)
			this.store.set({ view: { from: Math.min(next.from, next.to), to: Math.max(next.from, next.to) } });
	}
}

function partOf({ from, to }: Stretch, time: number): number {
	return (time - from) / (to - from);
}

/** Adds an amount to the columns that a stretch of the whole covers. */
function spread(columns: Float64Array, from: number, to: number, amount: number): void {
	const first = Math.min(columns.length - 1, Math.max(0, Math.floor(from * columns.length)));
	const last = Math.min(columns.length - 1, Math.max(first, Math.ceil(to * columns.length) - 1));
	for (let i = first; i <= last; i++)
		columns[i]! += amount / (last - first + 1);
}
