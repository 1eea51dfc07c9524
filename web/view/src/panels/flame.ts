// flame.ts - the flame graph of a selection, the outermost functions on top.
// SPDX-License-Identifier: Apache-2.0
import { commandOf } from "../command";
import { button, make } from "../dom";
import { asked, copyButton, failed, quiet, saysNone, watched, type Context, type Panel } from "./context";
import { FlameGraph, type Node } from "./flamegraph";
import { about } from "./functions";

export class Flame implements Panel {
	readonly title = "Flame graph";
	private graph: FlameGraph | null = null;

	constructor(private readonly context: Context) { }

	get drawn(): Node[] {
		return this.graph?.drawn ?? [];
	}

	async show(box: HTMLElement, signal: AbortSignal): Promise<void> {
		const { context } = this;
		const { stretch, tracks } = asked(context);
		this.graph = null;
		if (saysNone(context, box))
			return;
		box.append(about(context));
		try {
			const frames = await watched(context, box, signal, (question, stop) =>
				context.server.flame(stretch, tracks.length ? tracks : null, stop, question));
			if (signal.aborted)
				return;
			const graph = new FlameGraph(context, frames, "Flame graph, which the tab Functions has as a table");
			if (graph.empty) {
				box.append(quiet("No function was called in this time range."));
				return;
			}
			this.graph = graph;
			const command = commandOf("flame", context.trace(), stretch, tracks, ["--icicle", "-o", "flame.svg"]);
			box.append(make("div", { class: "row" }, button("Reset zoom", () => graph.all()),
				copyButton(context, "Copy command", () => command, "Command"), graph.found), graph.element);
		} catch (error) {
			failed(box, error);
		}
	}
}
