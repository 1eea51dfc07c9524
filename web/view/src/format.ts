// format.ts - numbers for people, as the tool prints them.
// SPDX-License-Identifier: Apache-2.0

const UNITS: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]];

/** What a trace counts: nanoseconds, instructions where it has no clock, or samples where it has stacks alone. What functions
 * take may also be samples or ticks in a trace that has a clock. */
export type Unit = "ns" | "instructions" | "samples" | "ticks";

export function count(value: number): string {
	return value.toLocaleString("en");
}

/** "1 event", "2 events". */
export function counted(value: number, word: string): string {
	return `${count(value)} ${word}${value === 1 ? "" : word.endsWith("x") ? "es" : "s"}`;
}

/** 999 ns, 1.234 us, 1.234 ms, 1.234 s. */
export function time(ns: number, unit: Unit = "ns"): string {
	if (unit !== "ns")
		return counted(Math.round(ns), unit.slice(0, -1));
	const size = Math.abs(ns);
	for (const [each, name] of UNITS)
		if (size >= each * 0.9999995)
			return `${(Math.floor(ns / each * 1000 + 0.5 + 1e-6) / 1000).toFixed(3)} ${name}`;
	return `${Math.round(ns)} ns`;
}

/** The same with all digits, where some are left out: 11.880 ms (11,880,437 ns). */
export function exactTime(ns: number, unit: Unit = "ns"): string {
	const words = time(ns, unit);
	const rounded = unit === "ns" && Math.abs(ns) >= 1e6 && Math.round(ns) % (Math.abs(ns) < 1e9 ? 1e3 : 1e6) !== 0;
	return rounded ? `${words} (${count(Math.round(ns))} ns)` : words;
}

/** The same below a title that names the unit. */
export function amount(size: number, unit: Unit): string {
	return unit === "ns" ? time(size) : count(size);
}

/** A title with the unit of what stands below, unless that has its own. */
export function titled(title: string, unit: Unit): string {
	return unit === "ns" ? title : `${title} (${unit})`;
}

/** A round time, as a tick has it: 20 ms, 1.5 s; with `step` all of its axis have as many decimals. */
export function round(ns: number, unit: Unit = "ns", step = 0): string {
	if (unit !== "ns")
		return count(ns);
	const size = Math.abs(ns);
	const [each, name] = UNITS.find(([least]) => size >= least) ?? [1, "ns"];
	const digits = step ? Math.max(0, Math.ceil(Math.log10(each / step) - 1e-9)) : 0;
	return ns === 0 ? "0" : `${step ? (ns / each).toFixed(digits) : Number((ns / each).toPrecision(12))} ${name}`;
}

/** Reads a time as a person writes it: "1.5 ms", "-2us"; without a unit it is what the axis counts. Null where it is none. */
export function parseTime(text: string, unit: Unit = "ns"): number | null {
	const [, sign, digits, name] = /^\s*([+-]?)\s*(\d+(?:\.\d*)?)\s*(s|ms|us|\u00b5s|ns|)\s*$/.exec(text.replaceAll(",", "")) ?? [];
	if (digits === undefined || unit !== "ns" && name)
		return null;
	const each = UNITS.find(([, called]) => called === name?.replace("\u00b5", "u"))?.[0] ?? 1;
	return Math.round(Number(digits) * each) * (sign === "-" ? -1 : 1);
}

/** Seconds with nine decimals: what the options of the tool take. */
export function seconds(ns: number): string {
	return (ns / 1e9).toFixed(9).replace(/\.?0+$/, "") || "0";
}

export function share(part: number, whole: number): string {
	return `${(whole ? 100 * part / whole : 0).toFixed(2)} %`;
}

export function bytes(size: number): string {
	let unit = 0;
	for (; size >= 1024 && unit < 6; unit++)
		size /= 1024;
	const name = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][unit];
	return unit ? `${size.toFixed(1)} ${name}` : `${size} ${size === 1 ? "byte" : name}`;
}

/** A value of a counter: whole numbers are exact as far as a number is, others have six digits, and none that is not known. */
export function value(number: number): string {
	const size = Math.abs(number);
	if (!Number.isFinite(number))
		return String(number);
	if (size > 2 ** 53)
		return String(Number(number.toPrecision(6)).toExponential());
	return number.toLocaleString("en", size >= 1e5 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 6 });
}

/** A byte of a word of the system that is no UTF-8: U+DC80 to U+DCFF in no pair. */
export const BYTE = /[\udc80-\udcff]/u;
const ESCAPED = /[\\'\x00-\x1f\x7f-\x9f\udc80-\udcff]/gu;

function escaped(sign: string): string {
	const digits = sign.charCodeAt(0).toString(16).padStart(4, "0");
	return BYTE.test(sign) ? `\\x${digits.slice(2)}` : /[\\']/.test(sign) ? `\\${sign}` : `\\u${digits}`;
}

/** A word of a shell's command line. A terminal takes control characters that are pasted for keys: they are written with
 *  other characters, which zsh and bash know, and so is what is no UTF-8. */
export function shell(word: string): string {
	if (/[\x00-\x09\x0b-\x1f\x7f-\x9f]/.test(word) || BYTE.test(word))
		return `$'${word.replace(ESCAPED, escaped)}'`;
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The path of a file as an operand, which is no option. */
export function operand(path: string): string {
	return /^-./.test(path) ? `./${path}` : path;
}
