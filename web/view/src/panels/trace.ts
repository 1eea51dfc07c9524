// trace.ts - what is open: files, and what is damaged in them.
// SPDX-License-Identifier: Apache-2.0
import type { Finding, Lost, Trace, TraceFile } from "../api";
import { button, make, table } from "../dom";
import { bytes, count, time } from "../format";
import { findingOf } from "../timeline/damage";
import { plain } from "../timeline/text";
import { quiet, type Context, type Panel } from "./context";
import { wallClock } from "./details";

export class TracePanel implements Panel {
	readonly title = "Trace";

	constructor(private readonly context: Context) { }

	show(box: HTMLElement): void {
		const trace = this.context.trace();
		box.append(make("h2", {}, "Files"), table<TraceFile>("Files", [
			{ name: "file", text: file => plain(file.path) },
			{ name: "format", text: file => plain(file.title) },
			{ name: "size", number: true, text: file => file.size === null ? "" : bytes(file.size) },
			{ name: "begins", number: true, text: file => time(file.start, trace.unit) },
		], trace.files));
		if (trace.wall !== null && trace.unit === "ns")
			box.append(make("div", { class: "row" }, button(this.context.store.state.clock ? "Times of the trace on the axis" : "Time of day on the axis",
				() => this.context.store.set({ clock: !this.context.store.state.clock }))));
		const hidden = this.context.store.state.hidden.length;
		box.append(quiet(`${count(trace.list.length)} tracks${hidden ? `, ${count(hidden)} hidden` : ""}, ` +
			`${time(trace.end, trace.unit)}, ${count(trace.events)} events` +
			`${trace.wall === null ? "" : `; 0 is ${wallClock(trace.wall, 0)}`}`));
		if (hidden)
			box.append(make("div", { class: "row" }, button("Show hidden tracks", () => this.context.store.set({ hidden: [] }))));
		this.lost(box, trace);
		this.findings(box, trace.findings, trace.files, trace.damage);
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
			{ name: "at", number: true, text: each => `0x${each.offset.toString(16)}` },
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
		box.append(make("h2", {}, "Damaged"), table<Finding>("Findings", [
			{ name: "file", text: finding => plain(files[finding.file]?.path ?? "") },
			{ name: "at", number: true, text: finding => `0x${finding.offset.toString(16)}` },
			{ name: "severity", text: finding => finding.severity },
			{ name: "rule", text: finding => finding.rule },
			{ name: "time", number: true, text: finding => (finding.time === null ? "" : time(finding.time, this.context.trace().unit)) },
			{ name: "what", text: finding => plain(finding.text) },
		], findings, finding => this.go(finding)));
		if (all > findings.length)
			box.append(quiet(`${count(all - findings.length)} more: trackway check tells all.`));
	}
}
