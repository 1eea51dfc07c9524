// text.ts - names in the room that there is: cut in the middle, where names of functions differ least.
// SPDX-License-Identifier: Apache-2.0

const LITTLE = 20; // columns
const LEAST = 6; // columns of a name that is cut: less tells nothing

/** How many columns of a fixed font a character takes. */
function columns(character: string): number {
	return (character.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
}

/** What no line shows: control characters, and marks that turn the direction of what follows. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function plain(name: string): string {
	return name.replace(UNSEEN, "\ufffd");
}

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

/** The function's own name: "draw" of "ns::shape<int>::draw(int) const". */
export function own(name: string): string {
	let end = name.replace(/( const| volatile| noexcept|&)+$/, "").length;
	while (end > 1 && CLOSED.includes(name[end - 1]!)) {
		const at = opened(name, end);
		if (at === 0)
			break;
		end = at;
	}
	const scope = name.lastIndexOf("::", end - 1);
	const short = name.slice(scope < 0 ? 0 : scope + 2, end).trim();
	return short === "" || /[()<>]|^operator/.test(short) ? name : short;
}

/** A name for little room: where the whole is cut to nothing that tells, only the function's own. */
export function label(name: string, most: number): string {
	const text = name.length > most && most < LITTLE ? fit(own(name), most) : fit(name, most);
	return most < LEAST && text.includes("\u2026") ? "" : text;
}

/** At most so many columns of a name; the middle gives way to an ellipsis. */
export function fit(name: string, most: number): string {
	if (name.length <= most && !/[^\u0020-\u10ff]/.test(name))
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
