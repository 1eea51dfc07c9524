// main.ts - starts the page, and keeps it up with the server.
// SPDX-License-Identifier: Apache-2.0
import { same, Server, type Place, type Progress, type Stretch, type Trace } from "./api";
import { exportCommand, viewCommand } from "./command";
import { button, byId, make } from "./dom";
import { alarm, attachDrop } from "./drop";
import { bytes, count, counted, time } from "./format";
import { Exported } from "./exported";
import { Keys, type Key } from "./keys";
import { soughtOf, trackOf } from "./link";
import { firstCall } from "./panels/calls";
import { Compare } from "./panels/compare";
import { copy, early, unlessEarly, type Context } from "./panels/context";
import { Counters } from "./panels/counters";
import { Details } from "./panels/details";
import { Drawer } from "./panels/drawer";
import { Flame } from "./panels/flame";
import { Functions } from "./panels/functions";
import { Sandwich } from "./panels/sandwich";
import { Search } from "./panels/search";
import { Sql } from "./panels/sql";
import { States } from "./panels/states";
import { Table } from "./panels/table";
import { CHANGES, TracePanel } from "./panels/trace";
import { go } from "./slices";
import { isAll, movedTo, spanOf, startsFor } from "./starts";
import { found, NOTHING, read, saysView, Store, within, type State } from "./state";
import { halves } from "./timeline/labels";
import { isTrack } from "./timeline/strip";
import { plain } from "./timeline/text";
import { Timeline } from "./timeline/timeline";

const OFTEN = 250; // ms between questions while the trace is read
const SELDOM = 2000; // afterwards: it may grow
const SAID = 3000; // ms that a sentence is seen
const ZOOM = 0.75; // of what is seen, by a key
const STRIP = 10_000; // rows that are a track
const FILE_TAIL = 12; // characters of the end of a file's name that stay in sight
const PREVIOUS = "previous slice at the same depth";
const NEXT = "next slice at the same depth";
const SPEED = 3; // e-folds of zoom a second, and widths of pan, while a key is held

class Page implements Context {
	readonly timeline: Timeline;
	readonly store: Store;
	readonly search: Search;
	readonly flame: Flame;
	readonly sandwich: Sandwich;
	readonly compare: Compare;
	private readonly details: Details;
	private readonly sql: Sql;
	private readonly drawer: Drawer;
	private readonly keys: Keys;
	private silence = 0;
	/** Whether the address says what is in sight, or most of the trace was brought there. */
	private settled = saysView();
	private failed = false;
	/** By how much the axis begins earlier than what is shown. */
	private earlier = 0;
	/** When the chosen slice is known by what a link says of it. */
	private resolved: Promise<void> = Promise.resolve();
	/** What the address names and nobody has found. */
	private readonly missed = new Set<string>();

	constructor(readonly server: Server, private current: Trace) {
		this.store = new Store({ first: () => ({ ...NOTHING, view: this.whole() }), tracks: () => this.current.list,
			fit: view => (this.current.state === "reading" ? view : within(view, this.current.end, this.whole())) });
		this.timeline = new Timeline(this.server, this.store, words => this.lost(words), place => this.open(place));
		this.search = new Search(this);
		this.flame = new Flame(this);
		this.sandwich = new Sandwich(this);
		this.compare = new Compare(this);
		this.details = new Details(this);
		this.sql = new Sql(this);
		this.drawer = new Drawer(this, { details: this.details, functions: new Functions(this), flame: this.flame, callers: this.sandwich,
			counters: new Counters(this), states: new States(this), compare: this.compare, search: this.search, sql: this.sql,
			table: new Table(this), trace: new TracePanel(this) });
		this.keys = new Keys(this.table());
		this.fillBar();
		this.attachFilter();
		this.attachStrip();
		this.attachStarts();
		attachDrop(this);
		if (current.timeless && location.hash.length < 2)
			this.store.state = { ...this.store.state, tab: "flame" };
		this.timeline.update(current);
		this.settle();
		this.drawer.refresh();
		this.tellTrace();
		this.attachLink();
		byId("skip").addEventListener("click", event => {
			event.preventDefault();
			byId("scroller").focus();
		});
	}

	private whole(): Stretch {
		return spanOf(this.current);
	}

	trace(): Trace {
		return this.current;
	}

	say(words: string): void {
		byId("said").textContent = words;
		document.querySelector(".said")?.remove();
		const box = make("div", { class: "said", "aria-hidden": "true" }, words);
		document.body.append(box);
		clearTimeout(this.silence);
		this.silence = setTimeout(() => box.remove(), SAID);
	}

	/** Without a server the page shows what it has; that is told until somebody reads it. */
	private lost(words: string): void {
		byId("said").textContent = words;
		alarm(words, button("Reload", () => location.reload()));
	}

	open(place: Place, stretch?: Stretch): void {
		this.choose(place, stretch, "details");
	}

	choose(place: Place, stretch?: Stretch, tab = this.store.state.tab): void {
		const { track, lane, depth, item } = place;
		this.store.set({ slice: { track, lane, depth, item }, tab });
		if (stretch)
			this.timeline.reveal(place, stretch);
		void this.tell({ track, lane, depth, item });
	}

	find(name: string): void {
		this.store.set({ query: name });
		void unlessEarly(this, firstCall(this, name)).then(near => {
			if (near === null)
				this.say("No call of it is visible in the timeline");
			else if (near !== "early")
				this.open(near, { from: near.begin, to: near.end });
		});
	}

	// ---- When files begin ----

	private starts(): number[] {
		return this.server.starts.length ? this.server.starts : this.current.files.map(({ begin }) => begin);
	}

	async move(file: number, at: number): Promise<void> {
		const { starts, by } = movedTo(this.starts(), file, at);
		this.earlier += by;
		await this.moveAll(starts);
	}

	/** Window, selection and marks go along with what is not moved. */
	async moveAll(starts: number[]): Promise<void> {
		const { view } = this.store.state;
		const all = isAll(view, this.current);
		if (!await this.askAnew(starts))
			return;
		const by = this.earlier;
		const later = ({ from, to }: Stretch) => ({ from: from + by, to: to + by });
		const { selection, marks, view: now } = this.store.state;
		this.earlier = 0;
		this.store.set({ starts: this.server.starts, view: all ? this.timeline.whole() : later(now),
			selection: selection && later(selection), marks: marks.map(mark => mark + by) });
	}

	/** Asks for the trace anew, of another axis. False where one more was asked for meanwhile. */
	private async askAnew(starts: number[]): Promise<boolean> {
		const mine = this.server.starts = startsFor(this.current.files, starts);
		const trace = await this.server.trace().catch(() => null);
		if (!trace || mine !== this.server.starts)
			return false;
		this.current = trace;
		this.timeline.outdate();
		this.timeline.update(trace);
		this.tellTrace();
		this.drawer.refresh();
		return true;
	}

	/** Back and forward, too, move files. */
	private attachStarts(): void {
		this.store.listen(changed => {
			const starts = startsFor(this.current.files, this.store.state.starts);
			const all = !saysView();
			if (changed.has("starts") && starts.join() !== this.server.starts.join())
				void this.askAnew(starts).then(fine => {
					if (fine && all)
						this.store.set({ view: this.timeline.whole() });
				});
		});
	}

	/** Reads the chosen slice out. */
	private async tell(place: Place): Promise<void> {
		const slice = await this.server.slice(place).catch(() => null);
		if (slice)
			byId("said").textContent = `${plain(slice.name)}, ${time(slice.duration, this.current.unit)}, on ${this.timeline.title(place.track)}`;
	}

	// ---- What the address names ----

	private attachLink(): void {
		this.store.listen(changed => {
			if (changed.has("starts") && this.store.state.told)
				this.store.set({ told: null }); // of another axis
			if (["slice", "missing", "starts"].some(key => changed.has(key as keyof State)))
				this.resolve();
		});
		this.resolve();
	}

	/** Looks for what the address names, and for how it names the chosen slice; what it names and nobody finds is said once. */
	private resolve(): void {
		const { state } = this.store;
		const change = found(state, this.current.list);
		if (change)
			this.store.set(change); // comes here again
		else
			this.resolved = state.slice ? this.learn(state.slice) : state.missing.slice ? this.seek(state.missing.slice) : Promise.resolve();
		const { of, pin, hide, closed } = this.store.state.missing;
		const words = [...of, ...pin, ...hide, ...closed];
		if (words.length && this.current.state !== "reading")
			this.tellMissing(words.length === 1 ? "The track that the address names is not here." : `${count(words.length)} tracks that the address names are not here.`);
		// Its selection is not one of all tracks.
		if (of.length && !this.store.state.tracks.length && this.store.state.selection && this.current.state !== "reading")
			this.store.set({ selection: null });
	}

	private tellMissing(words: string): void {
		if (!this.missed.has(words))
			alarm(`${words} Filters leave things out: --from-time, --thread and the like.`);
		this.missed.add(words);
	}

	private async learn(slice: Place): Promise<void> {
		if (this.store.state.told)
			return;
		const answer = await this.server.slice(slice).catch((error: unknown) => (early(error) ? "early" : null));
		const now = this.store.state;
		if (!now.slice || !same(now.slice, slice) || answer === "early")
			return;
		if (answer)
			this.store.learn({ from: answer.begin, to: answer.end, name: answer.name });
		else if (this.current.state !== "reading")
			this.tellMissing("The slice that the address has by its number is not here.");
	}

	private async seek(word: string): Promise<void> {
		const sought = soughtOf(word)!;
		const track = trackOf(sought.track, this.current.list);
		const last = this.current.state !== "reading";
		const answer = typeof track !== "number" ? null
			: await this.server.find(track, sought.depth, sought).catch((error: unknown) => (early(error) ? "early" : null));
		if (this.store.state.slice || this.store.state.missing.slice !== word || answer === "early")
			return;
		const { from, to, name } = sought;
		if (answer)
			this.store.set({ slice: { track: answer.track, lane: answer.lane, depth: answer.depth, item: answer.item }, told: { from, to, name },
				missing: { ...this.store.state.missing, slice: "" } });
		else if (last)
			this.tellMissing(`The slice that the address names is not here: ${plain(name)}, at ${time(from, this.current.unit)}.`);
	}

	// ---- What the server knows meanwhile ----

	async follow(): Promise<void> {
		while (this.current.state === "reading") {
			await new Promise(resolve => setTimeout(resolve, OFTEN));
			const progress = await this.server.progress().catch(() => null);
			if (progress)
				await this.take(progress);
		}
	}

	/** Takes what files have more than before, and tells, once each, of those that are not what they were. */
	async watch(): Promise<void> {
		const told = new Set<string>();
		while (this.server.live) {
			await new Promise(resolve => setTimeout(resolve, SELDOM));
			if (document.hidden)
				continue;
			const { starts } = this.server;
			const now = await this.server.trace().catch(() => null);
			if (now && starts === this.server.starts) {
				const isNew = now.generation !== this.current.generation;
				const isOther = now.files.some(({ changed }, i) => changed !== this.current.files[i]?.changed);
				if (isNew || isOther)
					await this.take(now);
				// What was asked of the file before stays.
				if (isNew || (isOther && this.store.state.tab === "trace"))
					this.refresh();
			}
			const changed = now?.files.filter(file => file.changed !== null && !(file.changed === "grown" && now.follows) &&
				!told.has(file.path + file.changed)) ?? [];
			changed.forEach(file => told.add(file.path + file.changed));
			if (changed.length)
				alarm(`${changed.map(file => `${plain(file.path)} ${CHANGES[file.changed!] ?? "has changed"}`).join("; ")}. ` +
					"The picture is of what it was: start trackway view again to see it.");
		}
	}

	/** Has the panel show what has come, but not while somebody is at it. */
	private refresh(): void {
		const { tab } = this.store.state;
		if (tab !== "sql" && tab !== "search" && !byId("panel").contains(document.activeElement))
			this.drawer.refresh();
	}

	private async take(progress: Progress): Promise<void> {
		const before = this.current;
		const grown = progress.generation !== before.generation || progress.tracks !== before.tracks || progress.state !== before.state;
		this.current = { ...before, ...progress };
		if (grown) {
			const { starts } = this.server;
			const now = await this.server.trace().catch(() => null);
			// Of an axis that is no longer shown nothing is taken.
			if (now && starts === this.server.starts)
				this.current = now;
		}
		const { view } = this.store.state;
		// Who looks at all of it goes on looking at all of it.
		if (isAll(view, before) && this.current.end > before.end)
			this.store.set({ view: this.whole() });
		else if (this.current.state !== "reading" && before.state === "reading") {
			const fit = within(view, this.current.end, this.whole());
			if (fit !== view)
				this.store.set({ view: fit });
		}
		this.timeline.update(this.current);
		this.settle();
		this.tellTrace();
		this.resolve();
		if (progress.state !== before.state)
			this.drawer.refresh();
	}

	/** Times that damage has made may be years away: then what is seen at first is where most of the trace is. */
	private settle(): void {
		const { bulk } = this.current;
		const { view } = this.store.state;
		if (!bulk || this.settled || !isAll(view, this.current))
			return;
		this.settled = true;
		this.store.set({ view: bulk });
		alarm("Damage has made times that are far away. Most of the trace is visible; 0 zooms to the whole trace.");
	}

	private tellFailure(): void {
		if (this.failed || this.current.state !== "failed")
			return;
		this.failed = true;
		alarm(`Not all of the trace is visible: ${plain(this.current.error ?? "it cannot be read further")}`);
	}

	private tellTrace(): void {
		this.tellFailure();
		const { files, state, damage, read: done, size, end, unit, events, timeless } = this.current;
		const name = files.map(file => file.path === "-" ? "standard input" : plain(file.path.replace(/.*\//, ""))).join(" + ");
		const title = byId("trace-name");
		if (title.textContent !== (name || "Trackway"))
			title.replaceChildren(...halves(name || "Trackway", FILE_TAIL));
		title.title = files.map(file => plain(file.path)).join("\n");
		document.title = name ? `${name} \u2013 Trackway` : "Trackway";
		const about = state === "reading" ? [`reading ${bytes(done)}${size ? ` of ${bytes(size)}` : ""}`]
			: [...timeless ? [] : [time(end, unit)], counted(events, timeless ? "stack" : "event"), ...damage ? [counted(damage, "finding")] : []];
		document.body.classList.toggle("timeless", timeless);
		byId("trace-about").title = about.join(", ");
		if (byId("trace-about").textContent !== about.join(", "))
			byId("trace-about").replaceChildren(...about.map((part, i) => make("span", {}, i ? `, ${part}` : part)));
		const bar = byId("progress");
		bar.hidden = state !== "reading";
		const part = size ? Math.round(100 * done / size) : 0;
		bar.setAttribute("aria-valuenow", String(part));
		(bar.firstElementChild as HTMLElement).style.width = `${part}%`;
	}

	// ---- The bar ----

	private fillBar(): void {
		byId("tools").append(
			button("Copy link", () => void this.copyLink(), { title: "A link that shows the same, while this server runs" }),
			button("Copy command", () => void this.resolved.then(() => copy(this, viewCommand(this.current, this.store.state), "Command")),
				{ class: "wide", title: "The trackway view command that shows the same" }),
			button("?", () => this.keys.showHelp(), { "aria-label": "Help: keys, mouse and touch", title: "Keys, mouse and touch (?)" }));
	}

	private toggle(tab: "flame"): void {
		this.store.set({ tab: this.store.state.tab === tab ? null : tab });
	}

	private async copyLink(): Promise<void> {
		await this.resolved;
		this.store.keep();
		await copy(this, location.href, "Link");
	}

	async copyExport(): Promise<void> {
		await this.resolved;
		await copy(this, exportCommand(this.current, this.store.state), "Export command");
	}

	private attachFilter(): void {
		const filter = byId<HTMLInputElement>("filter");
		filter.value = this.store.state.filter;
		filter.addEventListener("input", () => this.store.set({ filter: filter.value.trim() }));
		filter.addEventListener("keydown", event => {
			if (event.key !== "Escape")
				return;
			filter.value = "";
			this.store.set({ filter: "" });
			byId("scroller").focus();
			event.stopPropagation();
		});
		this.store.listen(changed => {
			if (changed.has("filter") && document.activeElement !== filter)
				filter.value = this.store.state.filter;
		});
	}

	/** A question whose rows are a track. */
	private attachStrip(): void {
		const ask = async () => {
			const { strip } = this.store.state;
			if (!strip || !this.server.live) {
				this.timeline.showStrip(null);
				return;
			}
			try {
				const answer = await this.server.sql(strip, STRIP, null, new AbortController().signal);
				if (answer.more)
					this.say(`Only the first ${count(STRIP)} rows are a track`);
				if (this.store.state.strip === strip)
					this.timeline.showStrip(isTrack(answer) ? answer : null);
			} catch (error) {
				this.say(error instanceof Error ? error.message : String(error));
			}
		};
		this.store.listen(changed => {
			if (changed.has("strip"))
				void ask();
		});
		if (this.store.state.strip)
			void ask();
	}

	private toggleArrows(): void {
		const arrows = !this.store.state.arrows;
		this.store.set({ arrows });
		this.say(arrows ? "All visible flows are drawn" : "Only flows of the selected slice are drawn");
	}

	private toggleClock(): void {
		if (this.current.wall === null || this.current.unit !== "ns")
			this.say("The trace does not tell the time of day");
		else
			this.store.set({ clock: !this.store.state.clock });
	}

	private ask(): void {
		if (!this.server.live) {
			this.say("A page that is a file has no SQL");
			return;
		}
		this.store.set({ tab: "sql" });
		this.sql.focus();
	}

	// ---- Keys ----

	private table(): Key[] {
		const { timeline } = this;
		const key = (keys: string, shown: string, says: string, act: (event: KeyboardEvent) => void, more: Partial<Key> = {}): Key =>
			({ keys: keys.split(" "), shown, says, act, ...more });
		const arrow = (name: "Left" | "Right" | "Up" | "Down", shown: string, says: string) => key(`Arrow${name}`, shown, says,
			() => void go(this, name.toLowerCase() as "left" | "right" | "up" | "down"), { inTimeline: true });
		return [
			key("w", "W", "zoom in", () => timeline.zoomHere(ZOOM), { hold: part => timeline.zoomHere(Math.exp(-SPEED * part)) }),
			key("s", "S", "zoom out", () => timeline.zoomHere(1 / ZOOM), { hold: part => timeline.zoomHere(Math.exp(SPEED * part)) }),
			key("a", "A", "pan left", () => timeline.pan(-0.1), { hold: part => timeline.pan(-part) }),
			key("d", "D", "pan right", () => timeline.pan(0.1), { hold: part => timeline.pan(part) }),
			key("f", "F", "zoom to the selected slice, then to the whole trace", () => void this.fit()),
			key("0", "0", "zoom to the whole trace", () => timeline.fit()),
			arrow("Left", "\u2190", PREVIOUS),
			arrow("Right", "\u2192", NEXT),
			arrow("Up", "\u2191", "its caller"),
			arrow("Down", "\u2193", "the longest slice it calls"),
			key("Enter", "Enter", "details of the selected slice", () => this.showDetails(), { inTimeline: true }),
			key(",", ",", PREVIOUS, () => void go(this, "left")),
			key(".", ".", NEXT, () => void go(this, "right")),
			key("/", "/", "search names", () => this.search.focus()),
			key("n", "N", "next match", event => void this.search.step(event.shiftKey ? "previous" : "next")),
			key("p", "P", "previous match", () => void this.search.step("previous")),
			key("[", "[", "follow a flow of the slice back", () => void this.details.follow("in")),
			key("]", "]", "follow a flow of the slice onward", () => void this.details.follow("out")),
			key("e", "E", "draw all flows, or only those of the selected slice", () => this.toggleArrows()),
			key(":", ":", "query in SQL", () => this.ask()),
			key("c", "C", "time of day on the axis", () => this.toggleClock()),
			key("m", "M", "set a mark at the pointer, or remove it", () => timeline.mark()),
			key("r", "R", "select the time range of the selected slice", () => void this.selectSlice()),
			key("v", "V", "select the visible time range", () => this.selectSight()),
			key("g", "G", "show or close the flame graph", () => this.toggle("flame")),
			key("t", "T", "filter tracks", () => byId("filter").focus()),
			key("p", "Ctrl+P", "filter tracks", () => byId("filter").focus(), { ctrl: true }),
			key("PageDown", "PgDn", "scroll down", () => timeline.scroll(innerHeight / 2), { inTimeline: true }),
			key("PageUp", "PgUp", "scroll up", () => timeline.scroll(-innerHeight / 2), { inTimeline: true }),
			key("Escape", "Esc", "close the panel, then clear the selection", () => this.escape()),
			key("?", "?", "this help", () => this.keys.showHelp()),
		];
	}

	private async fit(): Promise<void> {
		const { slice, view } = this.store.state;
		const found = slice ? await this.server.slice(slice).catch(() => null) : null;
		const around = found ? { from: found.begin - found.duration * 0.05, to: found.end + found.duration * 0.05 } : null;
		const there = around && Math.abs(view.from - around.from) + Math.abs(view.to - around.to) < (around.to - around.from) * 0.02;
		if (around && !there)
			this.timeline.show(around);
		else
			this.timeline.fit();
	}

	private showDetails(): void {
		this.store.set({ tab: "details" });
		byId("panel").focus();
	}

	private async selectSlice(): Promise<void> {
		const { slice } = this.store.state;
		const found = slice ? await this.server.slice(slice).catch(() => null) : null;
		if (found)
			this.store.set({ selection: { from: found.begin, to: found.end }, tracks: [found.track], tab: "functions" });
		else
			this.say("Select a slice first");
	}

	private selectSight(): void {
		const { from, to } = this.store.state.view;
		this.store.set({ selection: { from, to }, tracks: [], tab: "functions" });
	}

	private escape(): void {
		const { tab, selection, slice } = this.store.state;
		if (document.activeElement instanceof HTMLElement && document.activeElement.closest("#drawer, #searching, #corner"))
			byId("scroller").focus();
		else if (tab !== null)
			this.drawer.close();
		else if (selection || slice)
			this.store.set({ selection: null, tracks: [], slice: null });
	}
}

/** What tests ask: what is drawn where. */
function expose(page: Page): void {
	const asked = {
		boxes: () => page.timeline.boxes,
		ticks: () => page.timeline.labelsDrawn,
		lines: () => page.timeline.layout.lines.map(({ track, name, y, height }) => ({ id: track.id, name: track.name, title: name, y, height })),
		hatched: () => page.timeline.hatched,
		arrows: () => page.timeline.arrows.drawn,
		flame: () => page.flame.drawn.map(({ name, depth, total, self, count: calls, x, width, text }) =>
			({ name, depth, total, self, count: calls, x, width, text })),
		difference: () => page.compare.drawn.map(({ name, depth, total, before, width }) => ({ name, depth, total, before, width })),
		sandwich: () => page.sandwich.drawn.map(nodes => nodes.map(({ name, depth, total, count: calls }) => ({ name, depth, total, count: calls }))),
		state: () => page.store.state,
		/** Whether what is drawn is what was asked for, and nothing moves. */
		rested: () => page.timeline.rested,
		chosen: () => page.timeline.chosen,
		frames: () => page.timeline.frameTimes,
	};
	Object.assign(window, { trackway: asked });
}

async function start(): Promise<void> {
	try {
		const server = Exported.here() ?? new Server();
		if (server.state && location.hash.length < 2)
			history.replaceState(null, "", `#${server.state}`);
		let trace = await server.trace();
		server.starts = server.live ? startsFor(trace.files, read(location.hash, NOTHING, []).starts) : [];
		if (server.starts.length)
			trace = await server.trace();
		const page = new Page(server, trace);
		expose(page);
		await page.follow();
		await page.watch();
	} catch (error) {
		const empty = byId("empty");
		empty.hidden = false;
		empty.textContent = error instanceof Error ? error.message : String(error);
	}
}

void start();
