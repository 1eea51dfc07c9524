// sandwich.ts - one function between all that call it and all that it calls, each as a flame graph.
// SPDX-License-Identifier: Apache-2.0
import type { Frame } from "../api";
import { commandOf } from "../command";
import { button, make } from "../dom";
import { time } from "../format";
import { plain } from "../timeline/text";
import { asked, copyButton, failed, quiet, saysNone, watched, weighedBy, type Context, type Panel } from "./context";
import { FlameGraph } from "./flamegraph";
import { about } from "./functions";

interface Branch {
	name: string;
	total: number;
	self: number;
	count: number;
	inside: Map<string, Branch>;
}

function branch(name: string): Branch {
	return { name, total: 0, self: 0, count: 0, inside: new Map() };
}

function inner(of: Branch, name: string, frame: Frame, more: Partial<Frame> = {}): Branch {
	const found = of.inside.get(name) ?? branch(name);
	of.inside.set(name, found);
	found.total += frame.total;
	found.self += more.self ?? 0;
	found.count += frame.count;
	return found;
}

function flat(root: Branch): Frame[] {
	const frames: Frame[] = [];
	const walk = ({ name, total, self, count, inside }: Branch, depth: number) => {
		frames.push({ name, depth, total, self, count });
		[...inside.values()].sort((a, b) => b.total - a.total).forEach(each => walk(each, depth + 1));
	};
	walk(root, 0);
	return frames;
}

/** Trees of the callers and of the callees of a function; a call inside of its own is part of that. */
export function sandwich(frames: Frame[], name: string): { callers: Frame[]; callees: Frame[] } {
	const up = branch(name);
	const down = branch(name);
	const stack: Frame[] = [];
	const below: Branch[] = [];
	let inside = -1;
	for (const frame of frames) {
		stack.length = frame.depth;
		stack.push(frame);
		if (frame.depth <= inside)
			inside = -1;
		if (inside >= 0) {
			below[frame.depth] = inner(below[frame.depth - 1]!, frame.name, frame, frame);
			continue;
		}
		if (frame.name !== name || frame.depth === 0)
			continue;
		inside = frame.depth;
		below[frame.depth] = down;
		for (const root of [up, down]) {
			root.total += frame.total;
			root.self += frame.self;
			root.count += frame.count;
		}
		let at = up;
		for (let depth = frame.depth - 1; depth > 0; depth--)
			at = inner(at, stack[depth]!.name, frame);
	}
	return { callers: flat(up), callees: flat(down) };
}

export class Sandwich implements Panel {
	readonly title = "Callers";
	private graphs: FlameGraph[] = [];

	constructor(private readonly context: Context) { }

	get drawn(): FlameGraph["drawn"][] {
		return this.graphs.map(graph => graph.drawn);
	}

	async show(box: HTMLElement, signal: AbortSignal): Promise<void> {
		const { context } = this;
		const { stretch, tracks } = asked(context);
		const name = context.store.state.function || await this.chosen();
		this.graphs = [];
		if (signal.aborted || saysNone(context, box))
			return;
		if (!name) {
			box.append(quiet("Select a slice, or a row in the tab Functions, to see its callers and callees here."));
			return;
		}
		box.append(make("h2", { class: "slice-name" }, plain(name)), about(context));
		try {
			const frames = await watched(context, box, signal, (question, stop) =>
				context.server.flame(stretch, tracks.length ? tracks : null, stop, question));
			if (signal.aborted)
				return;
			const filtered = context.trace().options.some(option => option.name === "function");
			box.append(make("div", { class: "row" }, copyButton(context, "Copy command", () => (filtered ? { why: "--function of the command line leaves out callers" }
				: commandOf("graph", context.trace(), stretch, tracks, ["--function", name.replace(/[\\*?[\]]/g, "\\$&")])), "Command")));
			this.fill(box, sandwich(frames, name), name);
		} catch (error) {
			failed(box, error);
		}
	}

	private async chosen(): Promise<string> {
		const { slice } = this.context.store.state;
		return slice ? this.context.server.slice(slice).then(found => found.name, () => "") : "";
	}

	private fill(box: HTMLElement, { callers, callees }: { callers: Frame[]; callees: Frame[] }, name: string): void {
		const { context } = this;
		const whole = callees[0]!;
		if (!whole.total) {
			box.append(quiet("It was not called in this time range."));
			return;
		}
		const up = new FlameGraph(context, callers, `Callers of ${plain(name)}`, true);
		const down = new FlameGraph(context, callees, `Callees of ${plain(name)}`);
		this.graphs = [up, down];
		box.append(make("div", { class: "row" }, button("Reset zoom", () => this.graphs.forEach(graph => graph.all())),
			button("Find in the timeline", () => context.find(name)),
			quiet(`${time(whole.total, weighedBy(context))}, self ${time(whole.self, weighedBy(context))}`)),
		make("h3", {}, "Called by"), up.found, up.element, make("h3", {}, "Calls"), down.found, down.element);
	}
}
