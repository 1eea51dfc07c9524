// drop.ts - files dropped onto the page: the server reads no others than it was started with, so the command is told.
// SPDX-License-Identifier: Apache-2.0
import { button, byId, make } from "./dom";
import { operand, shell } from "./format";
import { copy, type Context } from "./panels/context";

/** Shows a sentence above all until it is put away: something is wrong. */
export function alarm(words: string, ...more: (Node | string)[]): void {
	show("alarm", words, ...more);
}

function show(look: "alarm" | "notice", words: string, ...more: (Node | string)[]): void {
	const bar = byId("alert");
	bar.className = look;
	bar.replaceChildren(make("span", {}, words), ...more, button("\u00d7", () => { bar.hidden = true; }, { "aria-label": "Dismiss" }));
	bar.hidden = false;
}

export function attachDrop(context: Context): void {
	addEventListener("dragover", event => event.preventDefault());
	addEventListener("drop", event => {
		event.preventDefault();
		const names = [...event.dataTransfer?.files ?? []].map(file => file.name);
		if (!names.length)
			return;
		const command = ["trackway", "view", ...names.map(operand)].map(shell).join(" ");
		show("notice", "This page shows the files that trackway view was started with. To open these, in their folder:",
			make("code", {}, command), button("Copy command", () => void copy(context, command, "Command")));
	});
}
