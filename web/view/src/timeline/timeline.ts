// timeline.ts - the picture of all tracks: puts together layout, data, labels, drawing and hands.
// SPDX-License-Identifier: Apache-2.0
import { same, type Answer, type Finding, type Place, type Row, type Server, type Stretch, type Trace, type Track } from "../api";
import { givenFilters } from "../command";
import { byId, make, pairs } from "../dom";
import { count, exactTime, time, value } from "../format";
import { spanOf } from "../starts";
import type { State, Store } from "../state";
import { Arrows } from "./arrows";
import { THEMES, type Theme } from "./colours";
import { Data } from "./data";
import { lostAt, tipOfFinding, tipOfLost, withoutTrack } from "./damage";
import { type Box, Painter, type Scene, xOf } from "./draw";
import { attach } from "./hands";
import { Labels } from "./labels";
import { GROUP, layOut, linesBetween, PAD, ROW, rowAt, titleOf, type Layout, type Line } from "./layout";
import { Overview } from "./overview";
import { drawRuler } from "./ruler";
import { stripOf, type Strip } from "./strip";
import { plain } from "./text";

const LEAST_SPAN = 20; // ns that fill the picture
const MOTION = 160; // ms
const SNAP = 7; // pixels
const LAYOUT_KEYS: (keyof State)[] = ["pins", "hidden", "closed", "bare", "filter"];

export class Timeline {
	trace: Trace | null = null;
	layout: Layout = { pinned: [], pinnedHeight: 0, lines: [], height: 0, bare: 0, shown: [] };
	/** Findings of which no track is known. */
	private general: Finding[] = [];
	readonly data: Data;
	labelsDrawn: string[] = [];
	/** Script time of the last frames, ms. */
	readonly frameTimes: number[] = [];
	private readonly canvas = byId<HTMLCanvasElement>("canvas");
	private readonly context = this.canvas.getContext("2d", { alpha: false })!;
	private readonly ruler = byId<HTMLCanvasElement>("ruler");
	private readonly overviewCanvas = byId<HTMLCanvasElement>("overview");
	private readonly scroller = byId("scroller");
	private readonly spacer = byId("spacer");
	private readonly picture = byId("picture");
	private readonly tip = byId("tip");
	private readonly painter = new Painter(this.context);
	private readonly labels: Labels;
	private readonly overview: Overview;
	readonly arrows: Arrows;
	/** Rows of a question as a track, and what it is made of. */
	private strip: Strip | null = null;
	private stripAnswer: Answer | null = null;
	private madeOf: Answer | null = null;
	private readonly darkness = matchMedia("(prefers-color-scheme: dark)");
	width = 1;
	private height = 1;
	private cursor: { x: number; y: number } | null = null;
	private hovered: Box | null = null;
	private asked = 0;
	private motion = 0;
	private moving = false;
	private painted = 0;

	constructor(private readonly server: Server, private readonly store: Store, failed: (words: string) => void,
		private readonly opened: (place: Place) => void) {
		this.data = new Data(server, () => this.redraw(), failed);
		this.labels = new Labels(store);
		this.overview = new Overview(this.overviewCanvas, store, server, () => this.redraw());
		this.arrows = new Arrows(server, () => this.redraw());
		store.listen(changed => this.stateChanged(changed));
		this.darkness.addEventListener("change", () => this.redraw());
		new ResizeObserver(() => this.resize()).observe(this.picture);
		new ResizeObserver(() => this.resize()).observe(this.scroller);
		this.scroller.addEventListener("scroll", () => this.redraw(), { passive: true });
		byId("rest").addEventListener("click", () => this.store.set({ bare: true }));
		this.attachHands();
	}

	get theme(): Theme {
		return THEMES[this.darkness.matches ? "dark" : "light"];
	}

	/** Whether all that is known of the picture has come, and nothing moves. */
	get settled(): boolean {
		return this.painted > 0 && !this.asked && !this.data.busy && !this.moving;
	}

	/** Whether the picture is complete. */
	get rested(): boolean {
		return this.settled && this.trace?.state !== "reading";
	}

	/** The chosen slice, if it is in sight. */
	get chosen(): Box | null {
		const { slice } = this.store.state;
		return slice ? this.boxes.find(box => same(box, slice)) ?? null : null;
	}

	/** Where something lost is drawn. */
	get hatched(): { track: number; x: number; width: number }[] {
		return this.painter.hatched;
	}

	get boxes(): Box[] {
		return this.painter.boxes;
	}

	/** Takes what the server now knows. */
	update(trace: Trace): void {
		this.trace = trace;
		this.general = withoutTrack(trace);
		this.makeStrip();
		this.data.generation = trace.generation;
		this.data.end = Math.max(1, trace.end);
		this.layAgain();
		if (this.width === 1)
			this.resize();
		void this.overview.update(trace);
		this.redraw();
	}

	/** Files begin elsewhere now. */
	outdate(): void {
		this.data.outdate();
		this.overview.outdate();
		this.arrows.outdate();
		this.madeOf = null;
	}

	/** All tracks: those of the trace, and the rows of a question. */
	private get list(): Track[] {
		const list = this.trace?.list ?? [];
		return this.strip ? [...list, this.strip.track] : list;
	}

	/** Shows the rows of a question as a track; null takes it away. */
	showStrip(answer: Answer | null): void {
		this.stripAnswer = answer;
		this.makeStrip();
		this.layAgain();
		this.redraw();
	}

	/** Its number is the first that no track of the trace has. */
	private makeStrip(): void {
		const id = this.trace?.list.length ?? 0;
		if (this.strip?.track.id !== id || !this.stripAnswer || this.strip.rows.length === 0 || this.madeOf !== this.stripAnswer)
			this.strip = this.stripAnswer ? stripOf(this.stripAnswer, id, this.trace?.files ?? [], this.trace?.end) : null;
		this.madeOf = this.stripAnswer;
	}

	isStrip(track: number): boolean {
		return track === this.strip?.track.id;
	}

	// ---- Where it looks ----

	whole(): Stretch {
		return this.trace ? spanOf(this.trace) : { from: 0, to: LEAST_SPAN };
	}

	/** A view that the trace has, not narrower than can be drawn. */
	private clamp({ from, to }: Stretch): Stretch {
		const { from: begin, to: end } = this.whole();
		const span = Math.min(Math.max(to - from, LEAST_SPAN), (end - begin) * 1.2);
		const middle = Math.min(Math.max((from + to) / 2, begin), end);
		return { from: middle - span / 2, to: middle + span / 2 };
	}

	show(view: Stretch, moving = true): void {
		const to = this.clamp(view);
		cancelAnimationFrame(this.motion);
		this.moving = false;
		if (!moving || matchMedia("(prefers-reduced-motion: reduce)").matches) {
			this.store.set({ view: to });
			return;
		}
		const from = this.store.state.view;
		const begun = performance.now();
		const move = () => {
			const part = Math.min(1, (performance.now() - begun) / MOTION);
			const eased = 1 - (1 - part) ** 3;
			this.store.set({ view: part < 1 ? { from: from.from + (to.from - from.from) * eased,
				to: from.to + (to.to - from.to) * eased } : to });
			this.moving = part < 1;
			if (this.moving)
				this.motion = requestAnimationFrame(move);
		};
		move();
	}

	fit(): void {
		this.show(this.whole());
	}

	zoom(factor: number, x = this.width / 2): void {
		const { from, to } = this.store.state.view;
		const at = from + (to - from) * x / this.width;
		this.show({ from: at - (at - from) * factor, to: at + (to - at) * factor }, false);
	}

	/** Zooms where the pointer is, or in the middle. */
	zoomHere(factor: number): void {
		this.zoom(factor, this.cursor?.x);
	}

	pan(part: number): void {
		const { from, to } = this.store.state.view;
		const by = (to - from) * part;
		this.show({ from: from + by, to: to + by }, false);
	}

	scroll(pixels: number): void {
		this.scroller.scrollTop += pixels;
	}

	/** Brings a stretch of a row into sight; zooms only if it would not be seen. */
	reveal(place: Place, stretch: Stretch): void {
		const { view } = this.store.state;
		const span = view.to - view.from;
		const wide = stretch.to - stretch.from;
		const pixels = wide / span * this.width;
		const middle = (stretch.from + stretch.to) / 2;
		if (pixels < 3)
			this.show({ from: middle - Math.max(wide, 1) * 20, to: middle + Math.max(wide, 1) * 20 });
		else if (wide > span * 1.5)
			this.show({ from: stretch.from - wide * 0.1, to: stretch.to + wide * 0.1 });
		else if (stretch.to < view.from + span * 0.02 || stretch.from > view.to - span * 0.02)
			this.show({ from: middle - span / 2, to: middle + span / 2 });
		this.revealRow(place);
	}

	/** Scrolls to a track. */
	revealTrack(track: number): void {
		this.revealRow({ track, lane: 0, depth: 0, item: 0 });
	}

	private revealRow(place: Place): void {
		const closed = this.closedAbove(place.track);
		if (closed.length)
			this.store.set({ closed: this.store.state.closed.filter(id => !closed.includes(id)) });
		const line = this.layout.lines.find(each => each.track.id === place.track && !each.group);
		if (!line || this.layout.pinned.some(each => each.track.id === place.track))
			return;
		const y = line.y + PAD + rowAt(line.track, place.lane, place.depth) * ROW;
		const { scrollTop, clientHeight } = this.scroller;
		if (y < scrollTop + ROW || y + 2 * ROW > scrollTop + clientHeight)
			this.scroller.scrollTop = y - clientHeight / 3;
	}

	private closedAbove(track: number): number[] {
		const closed: number[] = [];
		for (let id: number | null = track; id !== null; id = this.trace?.list[id]?.parent ?? null)
			if (this.store.state.closed.includes(id))
				closed.push(id);
		return closed;
	}

	/** A mark at the pointer, at an edge where one is near; where one is already, it goes. */
	mark(): void {
		const x = this.cursor?.x ?? this.width / 2;
		const edges = this.boxes.flatMap(box => [box.begin, box.end]);
		const near = (at: number) => Math.abs(xOf(this, at) - x) <= SNAP;
		const { marks, slice } = this.store.state;
		const old = marks.find(near);
		const chosen = slice && !this.cursor ? this.boxes.find(box => same(box, slice))?.begin : undefined;
		const edge = edges.filter(near).sort((a, b) => Math.abs(xOf(this, a) - x) - Math.abs(xOf(this, b) - x))[0];
		const at = Math.round(chosen ?? edge ?? this.timeAt(x));
		this.store.set({ marks: old !== undefined ? marks.filter(mark => mark !== old) : [...marks, at].sort((a, b) => a - b) });
	}

	// ---- Drawing ----

	get view(): Stretch {
		return this.store.state.view;
	}

	redraw(): void {
		if (!this.asked)
			this.asked = requestAnimationFrame(() => {
				this.asked = 0;
				const begun = performance.now();
				this.draw();
				this.painted++;
				this.frameTimes.push(performance.now() - begun);
				if (this.frameTimes.length > 1000)
					this.frameTimes.shift();
			});
	}

	private stateChanged(changed: ReadonlySet<keyof State>): void {
		if (LAYOUT_KEYS.some(key => changed.has(key)))
			this.layAgain();
		this.redraw();
	}

	private layAgain(): void {
		if (!this.trace)
			return;
		this.layout = layOut(this.list, this.store.state, this.trace.files.map(({ path }) => path));
		this.spacer.style.height = `${this.layout.height + (this.layout.bare ? GROUP : 0)}px`;
		this.tellRest();
		const pinned = byId("pinned");
		pinned.hidden = !this.layout.pinned.length;
		pinned.style.height = `${this.layout.pinnedHeight}px`;
	}

	/** Below all tracks: those that are left out, and the way to them. */
	private tellRest(): void {
		const rest = byId("rest");
		const { bare, height } = this.layout;
		rest.hidden = !bare;
		rest.style.top = `${height + 1}px`;
		rest.textContent = `Show ${count(bare)} empty ${bare === 1 ? "track" : "tracks"}`;
	}

	private resize(): void {
		const top = this.ruler.getBoundingClientRect();
		const picture = this.picture.getBoundingClientRect();
		this.width = Math.max(1, Math.round(this.scroller.clientWidth - (top.left - picture.left)));
		this.height = Math.max(1, Math.round(picture.bottom - top.bottom - 1));
		this.canvas.style.top = `${top.bottom - picture.top + 1}px`;
		fitCanvas(this.canvas, this.width, this.height);
		fitCanvas(this.ruler, top.width, top.height, false);
		fitCanvas(this.overviewCanvas, top.width, this.overviewCanvas.getBoundingClientRect().height, false);
		this.redraw();
	}

	private rows(track: number): Row[] {
		return this.isStrip(track) ? this.strip!.rows : this.data.rows(track);
	}

	/** The time of day at 0, where the axis has it. */
	private get clock(): number | null {
		const wall = this.trace?.wall;
		return this.store.state.clock && wall != null ? Number(wall % 86_400_000_000_000n) : null;
	}

	private scene(): Scene {
		const { view, selection, tracks, slice, query, marks } = this.store.state;
		return { view, selection, tracks, slice, query, marks, width: this.width, height: this.height,
			scroll: this.scroller.scrollTop, layout: this.layout, names: this.server.names, theme: this.theme,
			unit: this.trace?.unit ?? "ns", timeless: this.trace?.timeless ?? false, end: this.data.end, hovered: this.hovered, findings: this.trace?.findings ?? [], general: this.general, lost: this.trace?.lost ?? [],
			cursor: this.cursor?.x ?? null, rows: track => this.rows(track), strip: this.strip, clock: this.clock,
			has: track => this.isStrip(track) || this.data.has(track),
			parent: track => this.trace?.list[track]?.parent ?? null, over: (context, scene) => this.arrows.draw(context, scene) };
	}

	private draw(): void {
		if (!this.trace)
			return;
		const scene = this.scene();
		const { scrollTop, clientHeight } = this.scroller;
		this.labels.show(byId("labels"), this.layout.lines, scrollTop, scrollTop + clientHeight);
		this.labels.show(byId("pinned"), this.layout.pinned, 0, this.layout.pinnedHeight);
		this.arrows.want(scene.view, this.store.state.arrows);
		this.painter.draw(scene);
		const ratio = devicePixelRatio;
		const ruler = this.ruler.getContext("2d", { alpha: false })!;
		ruler.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.labelsDrawn = drawRuler(ruler, scene, this.ruler.width / ratio, this.ruler.height / ratio);
		const strip = this.overviewCanvas.getContext("2d", { alpha: false })!;
		strip.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.overview.draw(strip, this.overviewCanvas.width / ratio, this.overviewCanvas.height / ratio, this.theme);
		this.tellSpan(scene.timeless ? "no times" : time(scene.view.to - scene.view.from, scene.unit));
		this.data.want(scene.view, this.width, this.tracksInSight(scrollTop, clientHeight));
		this.tellEmpty();
	}

	private tellSpan(words: string): void {
		const span = byId("span");
		const text = span.firstChild as Text;
		if (text.data !== words)
			text.data = words; // in each frame: new elements would be garbage
	}

	private tracksInSight(scrollTop: number, clientHeight: number): number[] {
		const { lines, pinned } = this.layout;
		const near = linesBetween(lines, scrollTop - clientHeight / 2, scrollTop + 1.5 * clientHeight).filter(line => !line.group);
		const closed = linesBetween(lines, scrollTop, scrollTop + clientHeight).filter(line => line.group && line.closed)
			.flatMap(line => line.children);
		const open = [...pinned, ...near].map(line => line.track.id);
		return [...new Set([...open, ...closed])].filter(id => !this.isStrip(id));
	}

	private tellEmpty(): void {
		const empty = byId("empty");
		const filtered = this.layout.lines.length === 0 && (this.trace?.list.length ?? 0) > 0;
		const reading = this.trace?.state === "reading";
		empty.hidden = this.layout.lines.length > 0 || reading === true;
		if (empty.hidden || !this.trace)
			return;
		const options = givenFilters(this.trace);
		empty.textContent = filtered ? "No track matches the filter"
			: options ? `No event passes the filters: ${plain(options)}` : "The trace has nothing that a timeline can show";
	}

	// ---- The pointer ----

	private timeAt(x: number): number {
		const { from, to } = this.view;
		return from + (to - from) * x / this.width;
	}

	private boxAt(x: number, y: number): Box | null {
		return this.painter.at(x, y);
	}

	private lineAt(y: number): Line | null {
		const { pinned, pinnedHeight, lines } = this.layout;
		const among = y < pinnedHeight ? pinned : lines;
		const at = y < pinnedHeight ? y : y - pinnedHeight + this.scroller.scrollTop;
		return among.find(line => at >= line.y && at < line.y + line.height) ?? null;
	}

	private tracksBetween(y0: number, y1: number): number[] {
		const { pinned, pinnedHeight, lines } = this.layout;
		const [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
		const hidden = this.scroller.scrollTop - pinnedHeight;
		const touched = (all: Line[], from: number, to: number) => all.filter(line => line.y <= to && line.y + line.height > from);
		const among = [...touched(pinned, top, Math.min(bottom, pinnedHeight - 1)),
			...bottom < pinnedHeight ? [] : touched(lines, Math.max(top, pinnedHeight) + hidden, bottom + hidden)];
		const groups = new Set(among.filter(line => line.group).map(line => line.track.id));
		return (this.trace?.list ?? []).filter(track => among.some(line => line.track.id === track.id) ||
			track.parent !== null && groups.has(track.parent)).map(track => track.id);
	}

	private hover(x: number, y: number): void {
		this.cursor = { x, y };
		this.hovered = this.boxAt(x, y);
		this.fillTip(x, y);
		this.redraw();
	}

	private leave(): void {
		if (!this.cursor)
			return;
		this.cursor = null;
		this.hovered = null;
		this.tip.hidden = true;
		this.redraw();
	}

	private fillTip(x: number, y: number): void {
		const content = this.hovered ? this.tipOfBox(this.hovered) : this.tipOfDamage(x, y) ?? this.tipOfValue(x, y);
		this.tip.hidden = content === null;
		if (!content)
			return;
		this.tip.replaceChildren(...content);
		const size = this.tip.getBoundingClientRect();
		const picture = this.picture.getBoundingClientRect();
		const left = picture.width - this.width + x + 14;
		const top = this.canvas.offsetTop + y + 18;
		this.tip.style.left = `${Math.max(4, Math.min(left, picture.width - size.width - 8))}px`;
		this.tip.style.top = `${top + size.height > picture.height ? top - size.height - 26 : top}px`;
	}

	private tipOfBox(box: Box): Node[] {
		const unit = this.trace?.unit ?? "ns";
		const name = make("strong", {}, plain(box.name));
		if (box.point)
			return [name, pairs([["at", exactTime(box.begin, unit)]])];
		if (box.count === 1)
			return [name, pairs([["duration", exactTime(box.end - box.begin, unit)], ["begins", exactTime(box.begin, unit)]])];
		return [make("strong", {}, `${count(box.count)} slices`), pairs([["longest", plain(box.name)],
			["busy", `${time(box.busy, unit)} of ${time(box.end - box.begin, unit)}`]])];
	}

	private tipOfLost(x: number, track: number | null): Node[] | null {
		const lost = this.trace ? lostAt(this.trace, x, track === null ? SNAP : 2, track, time => xOf(this, time)) : null;
		return lost ? tipOfLost(lost, this.trace!, lost.track === null ? "not known" : this.title(lost.track)) : null;
	}

	/** What is damaged, lost or not there where no slice is. */
	private tipOfDamage(x: number, y: number): Node[] | null {
		const line = this.lineAt(y);
		const at = this.timeAt(x);
		const found = this.findingAt(x);
		if (found)
			return tipOfFinding(found, this.trace!);
		if (at < 0 || at > this.data.end)
			return [make("strong", {}, at < 0 ? "Before the trace begins" : "After the trace has ended")];
		return line && !line.group ? this.tipOfLost(x, line.track.id) : null;
	}

	private tipOfValue(x: number, y: number): Node[] | null {
		const line = this.lineAt(y);
		if (!line || line.group || line.track.kind !== "counter")
			return null;
		const at = this.timeAt(x);
		const rows: [string, string][] = [];
		for (const row of this.rows(line.track.id)) {
			if (row.kind !== "values")
				continue;
			const i = row.time.findLastIndex(each => each <= at);
			if (i >= 0)
				rows.push([line.track.series[row.lane] || "value", value(row.last[i]!)]);
		}
		return rows.length ? [make("strong", {}, plain(line.track.name)), pairs(rows)] : null;
	}

	private select(x0: number, y0: number, x1: number, y1: number, done: boolean): void {
		const limit = (at: number) => Math.min(Math.max(0, at), this.data.end);
		const from = limit(this.snapped(Math.min(x0, x1)));
		const to = limit(this.snapped(Math.max(x0, x1)));
		if (to - from < 1)
			return;
		const { tab } = this.store.state;
		const next = done ? { tab: tab === "flame" ? tab : "functions" as const } : {};
		this.store.set({ selection: { from: Math.floor(from), to: Math.ceil(to) }, tracks: this.tracksBetween(y0, y1), ...next });
	}

	/** The time at a place, or the edge of a slice that is drawn next to it. */
	private snapped(x: number): number {
		let best = this.timeAt(x);
		let distance = SNAP;
		for (const box of this.boxes)
			for (const edge of box.count === 1 ? [box.begin, box.end] : []) {
				const away = Math.abs(xOf(this, edge) - x);
				if (away < distance) {
					distance = away;
					best = edge;
				}
			}
		return best;
	}

	private click(x: number, y: number): void {
		const box = this.boxAt(x, y);
		this.scroller.focus({ preventScroll: true });
		if (box && this.isStrip(box.track))
			this.store.set({ selection: { from: box.begin, to: Math.max(box.end, box.begin + 1) }, tracks: [] });
		else if (box)
			this.opened({ track: box.track, lane: box.lane, depth: box.depth, item: box.item });
		else if (this.isDamaged(x, y))
			this.store.set({ tab: "trace" });
		else
			this.store.set({ slice: null, selection: null, tracks: [] });
	}

	private attachHands(): void {
		attach(this.picture, this.canvas, {
			inside: (x, y) => x >= 0 && y >= 0 && x <= this.width && y <= this.height,
			zoom: (factor, x) => this.zoom(factor, x),
			pan: pixels => this.pan(pixels / this.width),
			scroll: pixels => this.scroll(pixels),
			hover: (x, y) => this.hover(x, y),
			leave: () => this.leave(),
			click: (x, y) => this.click(x, y),
			double: (x, y) => {
				const box = this.boxAt(x, y);
				if (box)
					this.show({ from: box.begin - (box.end - box.begin) * 0.05, to: box.end + (box.end - box.begin) * 0.05 });
			},
			select: (x0, y0, x1, y1, done) => this.select(x0, y0, x1, y1, done),
		});
		let from: number | null = null;
		const at = (event: PointerEvent) => event.clientX - this.ruler.getBoundingClientRect().left;
		this.ruler.addEventListener("pointermove", event => this.tellFinding(at(event)));
		this.ruler.addEventListener("pointerleave", () => { this.tip.hidden = true; });
		this.ruler.addEventListener("click", event => {
			if (this.findingAt(event.offsetX, this.trace?.findings))
				this.store.set({ tab: "trace" });
		});
		this.ruler.addEventListener("pointerdown", event => {
			from = at(event);
			this.ruler.setPointerCapture(event.pointerId);
		});
		this.ruler.addEventListener("pointermove", event => {
			if (from !== null && Math.abs(at(event) - from) > 3)
				this.select(from, 0, at(event), this.height + 1e9, false);
			if (from !== null)
				this.store.set({ tracks: [] });
		});
		this.ruler.addEventListener("pointerup", () => {
			from = null;
			if (this.store.state.selection)
				this.store.set({ tab: this.store.state.tab === "flame" ? "flame" : "functions" });
		});
	}

	private isDamaged(x: number, y: number): boolean {
		const line = this.lineAt(y);
		return this.findingAt(x) !== null || line !== null && !line.group && this.tipOfLost(x, line.track.id) !== null;
	}

	private findingAt(x: number, findings = this.general): Finding | null {
		return findings.find(finding => finding.time !== null && Math.abs(xOf(this, finding.time) - x) <= SNAP) ?? null;
	}

	/** What is damaged where the pointer is on the ruler. */
	private tellFinding(x: number): void {
		const found = this.findingAt(x, this.trace?.findings);
		const content = found ? tipOfFinding(found, this.trace!) : this.tipOfLost(x, null);
		this.tip.hidden = !content;
		if (!content)
			return;
		this.tip.replaceChildren(...content);
		this.tip.style.left = `${Math.max(4, Math.min(this.ruler.offsetLeft + x + 8, this.picture.clientWidth - this.tip.offsetWidth - 8))}px`;
		this.tip.style.top = `${this.canvas.offsetTop + 6}px`;
	}

	/** What a person calls the track. */
	title(track: number): string {
		const { list } = this;
		const found = list[track];
		return found ? plain(titleOf(found, list)) : "";
	}
}

function fitCanvas(canvas: HTMLCanvasElement, width: number, height: number, styled = true): void {
	canvas.width = Math.round(width * devicePixelRatio);
	canvas.height = Math.round(height * devicePixelRatio);
	if (styled) {
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
		canvas.getContext("2d", { alpha: false })?.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
	}
}
