// trace.ts - what is open: files, and what is damaged in them.
// SPDX-License-Identifier: Apache-2.0
import type { Finding, Lost, Place, Trace, TraceFile } from "../api";
import { button, make, table } from "../dom";
import { bytes, count, counted, parseTime, round, time } from "../format";
import { areApart } from "../starts";
import { findingOf } from "../timeline/damage";
import { plain } from "../timeline/text";
import { quiet, type Context, type Panel } from "./context";
import { wallClock } from "./details";

/** What has become of a file since it was read. */
export const CHANGES: Record<string, string> = { grown: "has grown", truncated: "was cut off", replaced: "is another file now", gone: "is gone" };
const STEPS = 50; // of what is in sight, by which a file is moved

export class TracePanel implements Panel {
	readonly title = "Trace";

	constructor(private readonly context: Context) { }

	show(box: HTMLElement): void {
		const trace = this.context.trace();
		box.append(make("h2", {}, "Files"), table<TraceFile>("Files", [
			{ name: "file", text: file => plain(file.path) },
			{ name: "format", text: file => plain(file.title) },
			{ name: "size", number: true, text: file => file.size === null ? "" : bytes(file.size) },
			{ name: "begins", number: true, text: file => time(file.start, trace.unit),
				...(this.movable ? { make: (file: TraceFile) => this.mover(file, trace) } : {}) },
		], trace.files));
		for (const { path, changed } of trace.files)
			if (changed !== null && changed !== "grown")
				box.append(make("p", { class: "changed" }, `${plain(path)} ${CHANGES[changed] ?? "has changed"}: the picture is of what it was, ` +
					"and questions that read it are refused."));
		if (this.movable)
			this.together(box, trace);
		if (trace.wall !== null && trace.unit === "ns")
			box.append(make("div", { class: "row" }, button(this.context.store.state.clock ? "Times of the trace on the axis" : "Time of day on the axis",
				() => this.context.store.set({ clock: !this.context.store.state.clock }))));
		const hidden = this.context.store.state.hidden.length;
		box.append(quiet(`${counted(trace.list.length, "track")}${hidden ? `, ${count(hidden)} hidden` : ""}, ` +
			`${trace.timeless ? counted(trace.events, "stack") : `${time(trace.end, trace.unit)}, ${counted(trace.events, "event")}`}` +
			`${trace.wall === null ? "" : `; time 0 is ${wallClock(trace.wall, 0)}`}`));
		if (trace.left)
			box.append(quiet(`The picture has no room for ${count(trace.left)} slices, samples or points: stat and sql count all.`));
		if (hidden)
			box.append(make("div", { class: "row" }, button("Show hidden tracks", () => this.context.store.set({ hidden: [] }))));
		this.lost(box, trace);
		this.findings(box, trace.findings, trace.files, trace.damage);
	}

	private get movable(): boolean {
		return this.context.server.live && this.context.trace().files.length > 1;
	}

	/** A round part of what is in sight. */
	private get step(): number {
		const { from, to } = this.context.store.state.view;
		return Math.max(1, 10 ** Math.floor(Math.log10((to - from) / STEPS)));
	}

	/** When a file begins: to be written, or moved by keys and buttons. */
	private mover(file: TraceFile, trace: Trace): HTMLElement {
		const number = trace.files.indexOf(file);
		const name = plain(file.path);
		const by = (step: number) => void this.context.move(number, file.start + step);
		const input = make("input", { id: `begins-${number}`, class: "begins", size: "12", spellcheck: "false", autocomplete: "off",
			"aria-label": `When ${name} begins`, title: "A time, \"1.5 ms\"; arrows up and down move by a little" });
		input.defaultValue = round(file.start, trace.unit);
		input.addEventListener("change", () => {
			const at = parseTime(input.value, trace.unit);
			input.setAttribute("aria-invalid", String(at === null));
			if (at === null)
				this.context.say("A time is a number and s, ms, us or ns: \"1.5 ms\"");
			else {
				input.defaultValue = input.value;
				void this.context.move(number, at);
			}
		});
		input.addEventListener("keydown", event => {
			const step = event.key === "ArrowUp" ? this.step : event.key === "ArrowDown" ? -this.step : 0;
			if (step === 0)
				return;
			event.preventDefault();
			input.value = input.defaultValue;
			by(event.shiftKey ? step * 10 : step);
		});
		const move = (sign: -1 | 1, label: string, words: string) => button(label, () => by(sign * this.step), {
			id: `${words}-${number}`, "aria-label": `${name} ${words}`, title: `${words}, by ${round(this.step, trace.unit)}` });
		return make("span", { class: "mover" }, move(-1, "\u2190", "earlier"), input, move(1, "\u2192", "later"));
	}

	/** Ways to bring files together. */
	private together(box: HTMLElement, trace: Trace): void {
		const { context } = this;
		const { slice, marks } = context.store.state;
		const tools = make("div", { class: "row" });
		if (areApart(trace))
			tools.append(button("Begin together", () => void context.moveAll(trace.files.map(() => 0)), { id: "together" }));
		if (context.server.starts.length)
			tools.append(button("Begin as opened", () => void context.moveAll(trace.files.map(({ begin }) => begin)), { id: "as-opened" }));
		if (slice && marks.length)
			tools.append(button("Move the selected slice to the first mark", () => void this.bring(slice, marks[0]!), { id: "bring",
				title: "Moves its whole file" }));
		if (tools.childElementCount)
			box.append(tools);
	}

	private async bring(place: Place, mark: number): Promise<void> {
		const { context } = this;
		const slice = await context.server.slice(place).catch(() => null);
		const file = slice ? context.trace().files[slice.file] : undefined;
		if (slice && file)
			await context.move(slice.file, file.start + mark - slice.begin);
	}

	/** Shows where on the axis it is, if that is known. */
	private go({ time: at }: Finding): void {
		const { timeline, store } = this.context;
		const span = (store.state.view.to - store.state.view.from) / 2;
		if (at === null)
			this.context.say("Where on the axis this is is not known");
		else
			timeline.show({ from: at - span, to: at + span });
	}

	private lost(box: HTMLElement, { lost, lostCount, unit, findings }: Trace): void {
		if (!lost.length)
			return;
		const { timeline } = this.context;
		box.append(make("h2", {}, "Lost"), table<Lost>("Lost", [
			{ name: "track", text: each => (each.track === null ? "" : timeline.title(each.track)) },
			{ name: "from", number: true, text: each => time(each.from, unit) },
			{ name: "to", number: true, text: each => time(each.to, unit) },
			{ name: "bytes", number: true, text: each => count(each.bytes) },
			{ name: "offset", number: true, text: each => `0x${each.offset.toString(16)}` },
			{ name: "what", text: each => plain(findingOf(each, findings)?.text ?? "") },
		], lost, each => timeline.show({ from: each.from - (each.to - each.from + 10), to: each.to + (each.to - each.from + 10) })));
		if (lostCount > lost.length)
			box.append(quiet(`${count(lostCount - lost.length)} more.`));
	}

	private findings(box: HTMLElement, findings: Finding[], files: TraceFile[], all: number): void {
		if (!findings.length) {
			box.append(quiet("Nothing is damaged."));
			return;
		}
		box.append(make("h2", {}, "Findings"), table<Finding>("Findings", [
			{ name: "file", text: finding => plain(files[finding.file]?.path ?? "") },
			{ name: "offset", number: true, text: finding => `0x${finding.offset.toString(16)}` },
			{ name: "severity", text: finding => finding.severity },
			{ name: "rule", text: finding => finding.rule },
			{ name: "time", number: true, text: finding => (finding.time === null ? "" : time(finding.time, this.context.trace().unit)) },
			{ name: "what", text: finding => plain(finding.text) },
		], findings, finding => this.go(finding)));
		if (all > findings.length)
			box.append(quiet(`${count(all - findings.length)} more: trackway check tells all.`));
	}
}
