// dom.ts - elements. Text is always text: nothing of a trace becomes markup.
// SPDX-License-Identifier: Apache-2.0

type Child = Node | string;

/** An element with attributes and children. A string is text. */
export function make<K extends keyof HTMLElementTagNameMap>(
	name: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
	const element = document.createElement(name);
	for (const [key, value] of Object.entries(attributes))
		element.setAttribute(key, value);
	element.append(...children);
	return element;
}

export function button(label: string, act: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
	const element = make("button", { type: "button", ...attributes }, label);
	element.addEventListener("click", act);
	return element;
}

export function byId<T extends HTMLElement>(id: string): T {
	const element = document.getElementById(id);
	if (!element)
		throw new Error(`the page has no #${id}`);
	return element as T;
}

/** A list of names and values. */
export function pairs(rows: [string, Child][]): HTMLElement {
	const list = make("dl", { class: "pairs" });
	for (const [name, value] of rows)
		list.append(make("dt", {}, name), make("dd", {}, value));
	return list;
}

export interface Column<Row> {
	name: string;
	text(row: Row): string;
	/** What stands in the cell instead of the text. */
	make?(row: Row): Node;
	/** What the column is sorted by; without it, it cannot be. */
	value?(row: Row): number | string;
	number?: boolean;
}

/** A table; `open` is called for the row that is clicked or entered. */
export function table<Row>(title: string, columns: Column<Row>[], rows: Row[], open?: (row: Row) => void): HTMLElement {
	const body = make("tbody");
	const head = make("tr");
	let sorted = -1;
	let up = false;
	const fill = () => body.replaceChildren(...rows.map(row => line(columns, row, open)));
	const sort = (at: number) => {
		const value = columns[at]?.value;
		if (!value)
			return;
		up = at === sorted ? !up : columns[at]?.number !== true;
		sorted = at;
		const least = (a: Row, b: Row) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0);
		rows = rows.slice().sort((a, b) => (up ? least(a, b) : least(b, a)));
		[...head.children].forEach((cell, i) =>
			i === at ? cell.setAttribute("aria-sort", up ? "ascending" : "descending") : cell.removeAttribute("aria-sort"));
		fill();
	};
	columns.forEach((column, at) => {
		const cell = make("th", { scope: "col", class: column.number ? "number" : "" });
		cell.append(column.value ? button(column.name, () => sort(at)) : column.name);
		head.append(cell);
	});
	fill();
	return make("table", { "aria-label": title }, make("thead", {}, head), body);
}

/** Text that breaks between the words of a name rather than in them. */
function breaking(text: string): Child[] {
	return text.split(/(?<=::|[_/.,(<])(?=[^:])/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));
}

function line<Row>(columns: Column<Row>[], row: Row, open?: (row: Row) => void): HTMLElement {
	const cells = columns.map(column => make("td", { class: column.number ? "number" : "" },
		...column.make ? [column.make(row)] : column.number ? [column.text(row)] : breaking(column.text(row))));
	const element = make("tr", {}, ...cells);
	if (!open)
		return element;
	element.tabIndex = 0;
	element.classList.add("opens");
	element.addEventListener("click", () => open(row));
	element.addEventListener("keydown", event => {
		if (event.key === "Enter")
			open(row);
		else if (event.key === "ArrowDown")
			(element.nextElementSibling as HTMLElement | null)?.focus();
		else if (event.key === "ArrowUp")
			(element.previousElementSibling as HTMLElement | null)?.focus();
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	});
	return element;
}
