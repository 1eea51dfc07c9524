// text.ts - names in the room that there is: cut in the middle, where names of functions differ least.
// SPDX-License-Identifier: Apache-2.0

/** How many columns of a fixed font a character takes. */
function columns(character: string): number {
	return (character.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
}

/** What no line shows: control characters, and marks that turn the direction of what follows. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function plain(name: string): string {
	return name.replace(UNSEEN, "\ufffd");
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
