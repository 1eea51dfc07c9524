// draw.ts - the picture itself: what is drawn where, and with which words.
// SPDX-License-Identifier: Apache-2.0
import { same, type Boxes, type Finding, type Lost, type Place, type Row, type Stretch, type Values } from "../api";
import { value, type Unit } from "../format";
import { COLOUR, Codes, HIT, SLEEPS } from "./codes";
import type { Theme } from "./colours";
import { Fills, NARROW } from "./fills";
import { COUNTER, linesBetween, PAD, ROW, rowAt, type Layout, type Line } from "./layout";
import { Numbers } from "./numbers";
import { ruled } from "./ruler";
import type { Strip } from "./strip";
import { plain } from "./text";

export const FONT = '11px "DejaVu Sans Mono", Menlo, Consolas, monospace';
export const SMALL = '11px system-ui, "Noto Sans", "DejaVu Sans", sans-serif';
const BASELINE = 12;
const INDENT = 4;
const FADED = 0.35; // what a search does not mean
const GAP = 7; // pixels between the strokes over what is lost
export const LEAST_LOST = 3; // pixels
const NO_NAMES: string[] = [];
const CROWDED = 5; // pixels between points: nearer, they are a band
const BAND = { top: 4, height: 9 }; // pixels

/** A box as it is drawn: what tests and the pointer look at. */
export interface Box extends Place {
	x: number;
	y: number;
	width: number;
	height: number;
	name: string;
	text: string;
	begin: number;
	end: number;
	count: number;
	busy: number;
	point: boolean;
}

/** Of a row that is drawn: which boxes of it are in sight, and how much of its height: pinned tracks cover others. */
interface Drawn {
	row: Boxes;
	y: number;
	top: number;
	bottom: number;
	first: number;
	after: number;
}

/** A name upon a box. */
interface Word {
	text: string;
	x: number;
	y: number;
}

export interface Scene {
	view: Stretch;
	width: number;
	height: number;
	scroll: number;
	layout: Layout;
	names: string[];
	theme: Theme;
	unit: Unit;
	timeless: boolean;
	end: number;
	selection: Stretch | null;
	tracks: number[];
	slice: Place | null;
	hovered: Place | null;
	query: string;
	marks: number[];
	findings: Finding[];
	/** Those that are drawn over all tracks. */
	general: Finding[];
	lost: Lost[];
	cursor: number | null;
	strip: Strip | null;
	/** Time of day at 0, in ns since midnight; null: the axis has the trace's own times. */
	clock: number | null;
	parent(track: number): number | null;
	rows(track: number): Row[];
	/** Whether a track's rows have come. */
	has(track: number): boolean;
	/** Draws what lies over the tracks besides. */
	over(context: CanvasRenderingContext2D, scene: Scene): void;
}

export class Painter {
	/** The rows of the last picture, from top to bottom. */
	private readonly drawn: Drawn[] = [];
	private made: Box[] | null = null;
	private names: string[] = [];
	/** Where something lost is drawn. */
	hatched: { track: number; x: number; width: number }[] = [];
	/** Of the picture, in pixels. */
	private size = { width: 1, height: 1 };
	/** Where times are in it: the first, and pixels for each. */
	private from = 0;
	private scale = 1;
	private columnWidth = 0;
	/** Gathered for one flush: what is to be filled, and the names upon it. */
	private readonly fills = new Fills();
	private readonly faded = new Fills();
	private readonly codes = new Codes([]);
	private readonly stripCodes = new Codes([]);
	private readonly written: Word[] = [];
	private readonly faint: Word[] = [];
	/** Boxes with an outline: x, y, width. */
	private readonly found = new Numbers(3);
	private foundNarrow = false;
	private readonly chosen = new Numbers(3);
	private readonly pointed = new Numbers(3);
	private strip: Strip | null = null;
	/** Between which heights lines are drawn at the moment. */
	private clip = { top: 0, bottom: 0 };
	/** Where the last point of a row is. */
	private lastPoint = -Infinity;

	constructor(private readonly context: CanvasRenderingContext2D) { }

	draw(scene: Scene): void {
		const context = this.context;
		this.drawn.length = 0;
		this.made = null;
		this.names = scene.names;
		this.hatched = [];
		this.size = { width: scene.width, height: scene.height };
		this.from = scene.view.from;
		this.scale = scene.width / (scene.view.to - scene.view.from);
		this.prepare(scene);
		context.fillStyle = scene.theme.page;
		context.fillRect(0, 0, scene.width, scene.height);
		this.grid(scene);
		this.lines(scene, scene.layout.lines, scene.layout.pinnedHeight, scene.height,
			scene.layout.pinnedHeight - scene.scroll);
		if (scene.layout.pinned.length) {
			context.fillStyle = scene.theme.page;
			context.fillRect(0, 0, scene.width, scene.layout.pinnedHeight);
			this.lines(scene, scene.layout.pinned, 0, scene.layout.pinnedHeight, 0);
			this.edge(scene, scene.layout.pinnedHeight);
		}
		this.over(scene);
	}

	/** The boxes of the last picture, from top to bottom: made when somebody asks. */
	get boxes(): Box[] {
		return this.made ??= this.drawn.flatMap(drawn =>
			Array.from({ length: drawn.after - drawn.first }, (_, i) => this.boxOf(drawn, drawn.first + i)));
	}

	private boxOf({ row, y }: Drawn, i: number): Box {
		const x = this.leftOf(row, i);
		const width = this.widthOf(row, i, x);
		return { track: row.track, lane: row.lane, depth: row.depth, item: row.item[i]!, x, y, width, height: ROW - 1,
			name: this.nameOf(row, i), text: this.textOf(row, i, width), begin: row.begin[i]!, end: row.end[i]!, count: row.count[i]!,
			busy: row.busy[i]!, point: row.kind === "points" };
	}

	/** The box at a point; of narrow ones the nearest. */
	at(x: number, y: number): Box | null {
		let found: Box | null = null;
		for (const drawn of this.drawn) {
			if (y < drawn.top || y >= drawn.bottom)
				continue;
			for (let i = drawn.first; i < drawn.after; i++) {
				const left = this.leftOf(drawn.row, i);
				const width = this.widthOf(drawn.row, i, left);
				const grace = drawn.row.kind === "points" ? 5 : width < 3 ? 2 : 0;
				if (x >= left - grace && x < left + width + grace)
					if (!found || Math.abs(left - x) <= Math.abs(found.x - x) || width > 3)
						found = this.boxOf(drawn, i);
			}
		}
		return found;
	}

	// Whole pixels: sharper, and several times faster to fill.
	private leftOf(row: Boxes, i: number): number {
		return Math.round(Math.max(-2, (row.begin[i]! - this.from) * this.scale));
	}

	private widthOf(row: Boxes, i: number, left: number): number {
		return Math.max(1, Math.round(Math.min(this.size.width + 2, (row.end[i]! - this.from) * this.scale)) - left);
	}

	private nameOf(row: Boxes, i: number): string {
		return (row.track === this.strip?.track.id ? this.strip.names : this.names)[row.name[i]!] ?? "";
	}

	/** What stands on a box. */
	private textOf(row: Boxes, i: number, width: number): string {
		if (width < this.columnWidth + 2 * INDENT || row.count[i] !== 1 || row.kind === "points")
			return "";
		return this.codesOf(row).label(row.name[i]!, Math.floor((width - 2 * INDENT) / this.columnWidth));
	}

	private codesOf(row: Boxes): Codes {
		return row.track === this.strip?.track.id ? this.stripCodes : this.codes;
	}

	private edge(scene: Scene, y: number): void {
		this.context.fillStyle = scene.theme.muted;
		this.context.fillRect(0, y - 2, scene.width, 2);
	}

	private prepare(scene: Scene): void {
		const colours = scene.theme.names.length;
		this.strip = scene.strip;
		this.codes.prepare(scene.names, colours, scene.query);
		this.stripCodes.prepare(scene.strip?.names ?? NO_NAMES, colours, scene.query);
		this.context.font = FONT;
		this.context.textBaseline = "alphabetic";
		this.columnWidth ||= this.context.measureText("0".repeat(40)).width / 40 || 6.6;
	}

	private grid(scene: Scene): void {
		this.context.fillStyle = scene.theme.grid;
		for (const { at } of ruled(scene))
			this.context.fillRect(Math.round(xOf(scene, at)), 0, 1, scene.height);
	}

	/** Draws those lines that are in sight, and nothing outside of top and bottom. */
	private lines(scene: Scene, lines: Line[], top: number, bottom: number, shift: number): void {
		const context = this.context;
		context.save();
		context.beginPath();
		context.rect(0, top, scene.width, bottom - top);
		context.clip();
		this.clip = { top, bottom };
		this.fills.begin(scene.theme, scene);
		this.faded.begin(scene.theme, scene);
		for (const line of linesBetween(lines, top - shift, bottom - shift))
			this.line(scene, line, line.y + shift);
		this.flush(scene);
		context.restore();
	}

	private line(scene: Scene, line: Line, y: number): void {
		const context = this.context;
		if (line.group) {
			context.fillStyle = scene.theme.group;
			context.fillRect(0, y, scene.width, line.height);
		}
		context.fillStyle = scene.theme.line;
		context.fillRect(0, y + line.height - 1, scene.width, 1);
		if (!line.group || !scene.tracks.length)
			this.selected(scene, line, y);
		if (line.group) {
			if (line.closed)
				this.inside(scene, line, y);
			return;
		}
		if (!scene.has(line.track.id))
			this.waiting(scene, y);
		for (const lost of scene.lost)
			if (lost.track === null || lost.track === line.track.id)
				this.hatch(scene, line, lost, y);
		for (const row of scene.rows(line.track.id)) {
			if (row.kind === "values") {
				if (!line.closed || row.lane === 0)
					this.values(scene, line, row, y);
				continue;
			}
			const at = rowAt(line.track, row.lane, row.depth);
			if (line.closed && at > 0)
				continue;
			const top = y + PAD + at * ROW;
			if (top + ROW > this.clip.top && top < this.clip.bottom)
				this.row(scene, row, top);
		}
	}

	/** What is lost, behind what is there. */
	private hatch(scene: Scene, line: Line, lost: Lost, y: number): void {
		const context = this.context;
		const x = Math.max(-GAP, Math.round(xOf(scene, lost.from)));
		const width = Math.min(scene.width + GAP, Math.max(x + LEAST_LOST, Math.round(xOf(scene, lost.to)))) - x;
		if (x > scene.width || x + width < 0)
			return;
		this.hatched.push({ track: line.track.id, x, width });
		context.save();
		context.beginPath();
		context.rect(x, y, width, line.height - 1);
		context.clip();
		context.globalAlpha = 0.12;
		context.fillStyle = context.strokeStyle = scene.theme.damage;
		context.fillRect(x, y, width, line.height - 1);
		context.globalAlpha = 0.5;
		context.lineWidth = 1;
		context.beginPath();
		for (let at = x - line.height - (x - line.height) % GAP; at < x + width; at += GAP) {
			context.moveTo(at, y + line.height);
			context.lineTo(at + line.height, y);
		}
		context.stroke();
		context.restore();
	}

	/** A closed process: how much of it runs where. */
	private inside(scene: Scene, line: Line, y: number): void {
		const context = this.context;
		context.fillStyle = scene.theme.counter;
		context.globalAlpha = 0.4;
		for (const id of line.children)
			for (const row of scene.rows(id)) {
				if (row.kind !== "slices" || row.depth > 0)
					continue;
				for (let i = firstEndingAfter(row.end, scene.view.from); i < row.begin.length && row.begin[i]! <= scene.view.to; i++) {
					const left = Math.max(0, xOf(scene, row.begin[i]!));
					context.fillRect(left, y + 6, Math.max(1, Math.min(scene.width, xOf(scene, row.end[i]!)) - left), line.height - 13);
				}
			}
		context.globalAlpha = 1;
	}

	/** A track whose slices have not come yet. */
	private waiting(scene: Scene, y: number): void {
		const context = this.context;
		context.fillStyle = scene.theme.grid;
		for (let x = 0; x < scene.width; x += 24)
			context.fillRect(x, y + PAD + ROW / 2 - 1, 12, 2);
	}

	private row(scene: Scene, row: Boxes, y: number): void {
		const { begin, end } = row;
		const { to } = scene.view;
		const floor = y + (row.kind === "points" ? BAND.top + BAND.height : ROW - 1);
		const codes = this.codesOf(row);
		const first = firstEndingAfter(end, this.from);
		let i = first;
		this.lastPoint = -Infinity;
		this.fills.row(floor);
		this.faded.row(floor);
		for (; i < begin.length && begin[i]! <= to; i++)
			this.box(scene, row, codes, i, y);
		this.fills.endRow();
		this.faded.endRow();
		const drawn = { row, y, top: Math.max(y, this.clip.top), bottom: Math.min(y + ROW, this.clip.bottom), first, after: i };
		this.drawn.push(drawn);
		this.mark(drawn, scene.slice, this.chosen);
		this.mark(drawn, scene.hovered, this.pointed);
	}

	private box(scene: Scene, row: Boxes, codes: Codes, i: number, y: number): void {
		const x = this.leftOf(row, i);
		const width = this.widthOf(row, i, x);
		const code = codes.of(row.name[i]!);
		const hit = row.kind !== "states" && (code & HIT) !== 0;
		const faded = row.kind === "states" ? (code & SLEEPS) !== 0 : scene.query !== "" && !hit;
		const fills = faded ? this.faded : this.fills;
		const colour = (code & COLOUR) - 1;
		if (row.kind === "points")
			this.point(fills, colour, x, y);
		else if (row.count[i] === 1)
			fills.rectangle(colour, x, Math.max(width - (width > 4 ? 1 : 0), 1), ROW - 1);
		else
			this.crowd(fills, colour, row, i, x, width);
		if (hit)
			this.find(x, y, width);
		const text = this.textOf(row, i, width);
		if (text !== "")
			(faded ? this.faint : this.written).push({ text, x: Math.max(x, 0) + INDENT, y: y + BASELINE });
	}

	/** A box that a search means; narrow ones that touch have one outline. */
	private find(x: number, y: number, width: number): void {
		const { items, length } = this.found;
		const narrow = width <= NARROW;
		const last = length - 3;
		if (narrow && this.foundNarrow && items[last + 1] === y && x <= items[last]! + items[last + 2]! + 1)
			items[last + 2] = Math.max(items[last + 2]!, x + width - items[last]!);
		else
			this.found.add(x, y, width);
		this.foundNarrow = narrow;
	}

	/** Remembers a box, if it is of the row and in sight. */
	private mark({ row, y, first, after }: Drawn, place: Place | null, list: Numbers): void {
		if (!place || !same(row, place, false))
			return;
		const i = row.item.indexOf(place.item, first);
		if (i >= 0 && i < after)
			list.add(this.leftOf(row, i), y, this.widthOf(row, i, this.leftOf(row, i)));
	}

	/** Points that are near each other are a band. */
	private point(fills: Fills, colour: number, x: number, y: number): void {
		if (x - this.lastPoint < CROWDED)
			fills.rectangle(colour, Math.max(this.lastPoint, x - CROWDED), Math.min(CROWDED, x - this.lastPoint) + 1, BAND.height);
		else
			fills.point(colour, x, y);
		this.lastPoint = x;
	}

	/** Several slices, as full as the stretch is busy: what is not there is not drawn. */
	private crowd(fills: Fills, colour: number, row: Boxes, i: number, x: number, width: number): void {
		const wide = row.end[i]! - row.begin[i]!;
		const part = wide > 0 ? Math.min(1, row.busy[i]! / wide) : 1;
		fills.rectangle(colour, x, width, Math.max(3, Math.round((ROW - 1) * part)));
	}

	/** Draws what has been gathered. */
	private flush(scene: Scene): void {
		const context = this.context;
		context.globalAlpha = FADED;
		this.faded.draw(context, scene.theme);
		context.globalAlpha = 1;
		this.fills.draw(context, scene.theme);
		this.outline(this.found, scene.theme.match, 1.5);
		this.outline(this.chosen, scene.theme.accent, 2);
		this.outline(this.pointed, scene.theme.text, 1);
		this.write(this.faint, scene.theme.muted);
		this.write(this.written, scene.theme.text);
	}

	private write(words: Word[], ink: string): void {
		this.context.fillStyle = ink;
		for (const { text, x, y } of words)
			this.context.fillText(text, x, y);
		words.length = 0;
	}

	/** Around boxes rather than in them: names stay readable. */
	private outline(boxes: Numbers, ink: string, thick: number): void {
		const context = this.context;
		context.strokeStyle = ink;
		context.lineWidth = thick;
		const out = thick === 2 ? 0.5 : -0.5;
		const { items, length } = boxes;
		for (let i = 0; i < length; i += 3)
			context.strokeRect(items[i]! - out, items[i + 1]! - out, Math.max(items[i + 2]! - 1 + 2 * out, 1), ROW - 1 + 2 * out);
		boxes.clear();
		this.foundNarrow = false;
	}

	private values(scene: Scene, line: Line, row: Values, y: number): void {
		const { view, width, theme } = scene;
		const height = (line.closed ? line.height : COUNTER) - 2 * PAD;
		const bottom = y + (line.closed ? 0 : row.lane * COUNTER) + PAD + height;
		const first = Math.max(0, firstEndingAfter(row.time, view.from) - 1);
		let least = Infinity;
		let most = -Infinity;
		let after = first;
		for (; after < row.time.length && row.time[after]! <= view.to; after++) {
			least = Math.min(least, row.least[after]!);
			most = Math.max(most, row.most[after]!);
		}
		if (after === first)
			return;
		// From 0: areas can be compared.
		const lowest = Math.min(0, least);
		const span = Math.max(0, most) - lowest || 1;
		const at = (number: number) => bottom - height * (number - lowest) / span;
		const context = this.context;
		const edge = new Path2D();
		const area = new Path2D();
		for (let i = first; i < after; i++) {
			const x = Math.max(-2, xOf(scene, row.time[i]!));
			const next = i + 1 < row.time.length ? xOf(scene, row.time[i + 1]!) : xOf(scene, Math.max(scene.end, row.time[i]!));
			const right = Math.max(Math.min(width + 2, next), x + 0.5);
			const y1 = at(row.last[i]!);
			area.rect(x, Math.min(y1, at(0)), right - x, Math.abs(y1 - at(0)));
			edge.moveTo(x, at(row.most[i]!));
			edge.lineTo(x, at(row.least[i]!));
			edge.moveTo(x, y1);
			edge.lineTo(right, y1);
		}
		context.fillStyle = context.strokeStyle = theme.counter;
		context.lineWidth = 1.5;
		context.globalAlpha = 0.25;
		context.fill(area);
		context.globalAlpha = 1;
		context.stroke(edge);
		this.legend(scene, `${plain(line.track.series[row.lane] || "value")}: ${least === most ? value(most) : `${value(least)} to ${value(most)}`}`, bottom - height);
	}

	/** A word on a plate of paper, readable whatever is behind. */
	private legend(scene: Scene, words: string, y: number): void {
		const context = this.context;
		context.font = SMALL;
		const wide = context.measureText(words).width;
		context.globalAlpha = 0.8;
		context.fillStyle = scene.theme.page;
		context.fillRect(2, y - 1, wide + 8, 15);
		context.globalAlpha = 1;
		context.fillStyle = scene.theme.muted;
		context.fillText(words, 6, y + 10);
		context.font = FONT;
	}

	/** What lies over all tracks: damage, selection, marks, the pointer. */
	private over(scene: Scene): void {
		const context = this.context;
		for (const finding of scene.general)
			if (finding.time !== null)
				this.damage(scene, xOf(scene, finding.time));
		this.outside(scene);
		scene.over(context, scene);
		context.fillStyle = scene.theme.accent;
		for (const at of scene.selection ? [scene.selection.from, scene.selection.to] : [])
			context.fillRect(Math.round(xOf(scene, at)), 0, 1, scene.height);
		for (const mark of scene.marks)
			for (let y = 0; y < scene.height; y += 6)
				context.fillRect(Math.round(xOf(scene, mark)), y, 1, 3);
		if (scene.cursor !== null) {
			context.globalAlpha = 0.5;
			context.fillStyle = scene.theme.muted;
			context.fillRect(Math.round(scene.cursor), 0, 1, scene.height);
			context.globalAlpha = 1;
		}
	}

	/** Behind the slices, so that these keep their colours. */
	private selected(scene: Scene, line: Line, y: number): void {
		const { selection, tracks } = scene;
		if (!selection || tracks.length && !tracks.includes(line.track.id))
			return;
		const left = Math.max(0, xOf(scene, selection.from));
		this.context.fillStyle = scene.theme.selection;
		this.context.fillRect(left, y, Math.min(scene.width, xOf(scene, selection.to)) - left, line.height - 1);
	}

	private damage(scene: Scene, x: number): void {
		if (x < -8 || x > scene.width + 8)
			return;
		const context = this.context;
		context.fillStyle = scene.theme.damage;
		context.globalAlpha = 0.75;
		for (let y = 0; y < scene.height; y += 8) {
			context.beginPath();
			context.moveTo(x - 3, y + 6);
			context.lineTo(x, y);
			context.lineTo(x + 3, y);
			context.lineTo(x, y + 6);
			context.fill();
		}
		context.globalAlpha = 1;
	}

	/** Beyond the end of the trace there is nothing, and that is to be seen. */
	private outside(scene: Scene): void {
		if (scene.timeless || scene.layout.lines.length === 0)
			return;
		const context = this.context;
		const end = xOf(scene, scene.end);
		const begin = xOf(scene, 0);
		context.fillStyle = scene.theme.group;
		context.globalAlpha = 0.8;
		if (end < scene.width)
			context.fillRect(end, 0, scene.width - end, scene.height);
		if (begin > 0)
			context.fillRect(0, 0, begin, scene.height);
		context.globalAlpha = 1;
	}
}

export function xOf(scene: { view: Stretch; width: number }, time: number): number {
	return (time - scene.view.from) / (scene.view.to - scene.view.from) * scene.width;
}

/** The first of ascending times that is not before. */
function firstEndingAfter(times: Float64Array, time: number): number {
	let low = 0;
	let high = times.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (times[middle]! < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
