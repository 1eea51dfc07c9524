// text.ts - names in the room that there is: cut in the middle, where names of functions differ least.
// SPDX-License-Identifier: Apache-2.0

const LEAST = 6; // columns of a name that is cut: less tells nothing
const PARAMETERS = 3; // columns: (\u2026)
const WIDE = /[^\u0020-\u10ff]/;

/** How many columns of a fixed font a character takes. */
function columns(character: string): number {
	return (character.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
}

/** What no line shows: control characters, and marks that turn the direction of what follows. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function plain(name: string): string {
	return name.replace(UNSEEN, "\ufffd");
}

const QUALIFIERS = /( const| volatile| noexcept|&)+$/;
const OPEN = "(<[{";
const CLOSED = ")>]}";

/** Where what is open at the end of a text begins: 0 if nothing is, or it is never opened. */
function opened(name: string, end: number): number {
	let depth = 0;
	for (let at = end - 1; at >= 0; at--) {
		if (CLOSED.includes(name[at]!) && name.slice(at - 1, at + 1) !== "->")
			depth++;
		else if (OPEN.includes(name[at]!) && --depth <= 0)
			return depth === 0 ? at : 0;
	}
	return 0;
}

/** Where the function's own name is: "draw" in "ns::shape<int>::draw(int) const". */
function place(name: string): [begin: number, end: number] {
	let end = name.replace(QUALIFIERS, "").length;
	while (end > 1 && CLOSED.includes(name[end - 1]!)) {
		const at = opened(name, end);
		if (at === 0)
			break;
		end = at;
	}
	const begin = name.lastIndexOf("::", end - 1) + 1;
	const short = name.slice(begin && begin + 1, end).trim();
	return short === "" || /[()<>]|^operator/.test(short) ? [0, name.length] : [begin && begin + 1, end];
}

/** The function's own name. */
export function own(name: string): string {
	return name.slice(...place(name)).trim();
}

/** A name that is too long: its parameters give way first, then its scope, and its own name last. */
function shorter(name: string, most: number): string {
	const [begin, end] = place(name);
	const room = most - (end - begin);
	if (room < LEAST)
		return fit(name.slice(begin, end).trim(), most);
	const parameters = name.slice(end).replace(QUALIFIERS, "");
	const least = room - Math.min(PARAMETERS, parameters.length);
	const scope = begin <= least ? begin : least < LEAST ? 0 : least;
	return (scope ? fit(name.slice(0, begin), scope) : "") + name.slice(begin, end) + fit(parameters, room - scope);
}

/** A name in so many columns; nothing where it would be cut to what tells nothing. */
export function label(name: string, most: number): string {
	const text = name.length > most && !WIDE.test(name) ? shorter(name, most) : fit(name, most);
	return most < LEAST && text.includes("\u2026") ? "" : text;
}

/** At most so many columns of a name; the middle gives way to an ellipsis. */
export function fit(name: string, most: number): string {
	if (name.length <= most && !WIDE.test(name))
		return name;
	const characters = [...plain(name)];
	const wide = characters.map(columns);
	if (wide.reduce((a, b) => a + b, 0) <= most)
		return characters.join("");
	let left = 0;
	let right = characters.length;
	let room = most - 1;
	// The left half keeps one more: scopes begin there.
	for (let fromLeft = true; left < right; fromLeft = !fromLeft) {
		const need = (fromLeft ? wide[left] : wide[right - 1]) ?? 1;
		if (need > room)
			break;
		room -= need;
		if (fromLeft)
			left++;
		else
			right--;
	}
	return `${characters.slice(0, left).join("")}\u2026${characters.slice(right).join("")}`;
}
