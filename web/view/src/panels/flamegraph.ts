// flamegraph.ts - a tree of calls as a picture: the outermost functions on top, or at the bottom.
// SPDX-License-Identifier: Apache-2.0
import type { Frame } from "../api";
import { make } from "../dom";
import { counted, share, time } from "../format";
import { changeColour, hash } from "../timeline/colours";
import { FONT } from "../timeline/draw";
import { ROW } from "../timeline/layout";
import { label, plain } from "../timeline/text";
import { weighedBy, type Context } from "./context";

export interface Node extends Frame {
	index: number;
	parent: Node | null;
	children: Node[];
	start: number;
	x: number;
	width: number;
	text: string;
}

const NARROWEST = 0.3; // pixels
const INDENT = 4;

/** Frames as a tree; each begins where its elder sibling ends. */
export function treeOf(frames: Frame[]): Node | null {
	const stack: Node[] = [];
	let index = 0;
	for (const frame of frames) {
		const parent = frame.depth > 0 ? stack[frame.depth - 1] ?? null : null;
		const before = parent?.children[parent.children.length - 1];
		const start = before ? before.start + before.total : parent?.start ?? 0;
		const node: Node = { ...frame, index: index++, parent, children: [], start, x: 0, width: 0, text: "" };
		parent?.children.push(node);
		stack.length = frame.depth;
		stack.push(node);
	}
	return stack[0] ?? null;
}

export class FlameGraph {
	drawn: Node[] = [];
	readonly element: HTMLElement;
	readonly found = make("output", { class: "quiet", "aria-live": "polite" });
	private readonly root: Node | null;
	private zoomed: Node | null;
	private focused: Node | null;
	private rows = 1;
	private readonly canvas: HTMLCanvasElement;

	/** `upward`: the root is at the bottom, and callers above what they call. */
	constructor(private readonly context: Context, frames: Frame[], name: string, private readonly upward = false) {
		this.root = this.zoomed = this.focused = treeOf(frames);
		this.canvas = make("canvas", { tabindex: "0", role: "img", "aria-label": `${name}: arrows move, Enter zooms, Escape resets the zoom.` });
		this.element = make("div", { class: "flame" }, this.canvas);
		this.canvas.addEventListener("pointermove", event => this.tell(this.at(event)));
		this.canvas.addEventListener("click", event => this.zoom(this.at(event)));
		this.canvas.addEventListener("keydown", event => this.key(event));
		this.canvas.addEventListener("focus", () => this.tell(this.focused));
		new ResizeObserver(() => this.draw()).observe(this.element);
		this.tell(this.root);
	}

	get empty(): boolean {
		return !this.root || !this.root.total;
	}

	all(): void {
		this.zoom(this.root);
	}

	private at(event: MouseEvent): Node | null {
		const box = this.canvas.getBoundingClientRect();
		const x = event.clientX - box.left;
		const row = Math.floor((event.clientY - box.top) / ROW);
		const depth = this.upward ? this.rows - 1 - row : row;
		return this.drawn.find(node => node.depth === depth && x >= node.x && x < node.x + Math.max(1, node.width)) ?? null;
	}

	private tell(node: Node | null): void {
		if (!node || !this.root)
			return;
		this.focused = node;
		const unit = weighedBy(this.context);
		const name = node === this.root && node.name === "" ? "all" : plain(node.name);
		const calls = node === this.root ? "" : `, self ${time(node.self, unit)}${unit === "samples" ? "" : `, ${counted(node.count, "call")}`}`;
		if (node.before !== undefined) {
			const same = node.before === node.total ? "as before" : `${time(node.before, unit)} before`;
			this.found.textContent = `${name}: ${time(node.total, unit)}, ${same}${node.before && node.before !== node.total
				? `, ${node.total > node.before ? "+" : "\u2212"}${share(Math.abs(node.total - node.before), node.before)}` : ""}`;
			this.draw();
			return;
		}
		this.found.textContent = `${name}: ${time(node.total, unit)}, ${share(node.total, this.root.total)} of all${calls}`;
		this.draw();
	}

	private zoom(node: Node | null): void {
		if (!node || !this.root)
			return;
		this.zoomed = node;
		this.tell(node);
	}

	private key(event: KeyboardEvent): void {
		const siblings = this.drawn.filter(node => node.depth === this.focused?.depth);
		const at = siblings.indexOf(this.focused!);
		const largest = this.focused?.children.slice().sort((a, b) => b.total - a.total)[0];
		const to: Record<string, Node | null | undefined> = { [this.upward ? "ArrowDown" : "ArrowUp"]: this.focused?.parent,
			[this.upward ? "ArrowUp" : "ArrowDown"]: largest,
			ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1] };
		if (event.key === "Enter")
			this.zoom(this.focused);
		else if (event.key === "Escape" && this.zoomed !== this.root)
			this.zoom(this.root);
		else if (event.key in to)
			this.tell(to[event.key] ?? null);
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	private place(node: Node, width: number): boolean {
		const zoomed = this.zoomed!;
		const above = node.start <= zoomed.start && node.start + node.total >= zoomed.start + zoomed.total && node.depth < zoomed.depth;
		const scale = width / zoomed.total;
		node.x = above ? 0 : Math.max(0, (node.start - zoomed.start) * scale);
		node.width = above ? width : Math.min(width, (node.start + node.total - zoomed.start) * scale) - node.x;
		return node.width >= NARROWEST;
	}

	private draw(): void {
		if (!this.root || !this.zoomed)
			return;
		const width = this.element.clientWidth;
		if (!width)
			return;
		this.drawn = [];
		const todo = [this.root];
		for (let node = todo.pop(); node; node = todo.pop()) {
			if (!this.place(node, width))
				continue;
			this.drawn.push(node);
			todo.push(...node.children.slice().reverse());
		}
		const rows = this.rows = this.drawn.reduce((most, node) => Math.max(most, node.depth), 0) + 1;
		const ratio = devicePixelRatio;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(rows * ROW * ratio);
		this.canvas.style.height = `${rows * ROW}px`;
		const context = this.canvas.getContext("2d")!;
		context.scale(ratio, ratio);
		context.font = FONT;
		const column = context.measureText("0".repeat(40)).width / 40 || 6.6;
		for (const node of this.drawn)
			this.frame(context, node, column);
	}

	private frame(context: CanvasRenderingContext2D, node: Node, column: number): void {
		const { theme } = this.context.timeline;
		const y = (this.upward ? this.rows - 1 - node.depth : node.depth) * ROW;
		const { query } = this.context.store.state;
		const hit = query !== "" && node.name.toLowerCase().includes(query.toLowerCase());
		const colour = node.before === undefined ? theme.names[hash(node.name, theme.names.length)]! : changeColour(node.before, node.total, theme);
		context.fillStyle = node === this.root && node.name === "" ? theme.line : colour;
		context.globalAlpha = query === "" || hit || node === this.root ? 1 : 0.4;
		context.fillRect(node.x, y, Math.max(0.5, node.width - 1), ROW - 1);
		context.globalAlpha = 1;
		const columns = Math.floor((node.width - 2 * INDENT) / column);
		node.text = columns > 0 ? label(node === this.root && node.name === "" ? "all" : node.name, columns) : "";
		context.fillStyle = theme.text;
		if (node.text)
			context.fillText(node.text, node.x + INDENT, y + 12);
		if (node !== this.focused)
			return;
		context.strokeStyle = theme.text;
		context.strokeRect(node.x + 0.5, y + 0.5, Math.max(1, node.width - 2), ROW - 2);
	}
}
