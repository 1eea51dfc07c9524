// codes.ts - what a picture needs of names, by their numbers: found out once for each.
// SPDX-License-Identifier: Apache-2.0
import { hash } from "./colours";
import { label } from "./text";

const ASLEEP = /^(sleeps|suspended|dead)/; // states of threads in which nothing happens
const WIDEST = 1024; // columns
const LABELS = 1 << 14; // that are kept

/** Of a code: which colour, from 1; whether a search means the name, and whether it is a state of sleep. */
export const COLOUR = 0x1f;
export const HIT = 0x20;
export const SLEEPS = 0x40;

export class Codes {
	/** 0: not known yet. */
	private codes = new Uint8Array(256);
	private readonly labels = new Map<number, string>();
	private colours = 1;
	private query = "";

	constructor(private names: string[]) { }

	/** Says which names they are, how many colours there are, and what is searched for. */
	prepare(names: string[], colours: number, query: string): void {
		const words = query.toLowerCase();
		if (this.names !== names)
			this.labels.clear();
		if (this.names !== names || this.colours !== colours || this.query !== words)
			this.codes.fill(0);
		this.names = names;
		this.colours = colours;
		this.query = words;
	}

	of(name: number): number {
		return this.codes[name] || this.find(name);
	}

	/** The name in so many columns. */
	label(name: number, columns: number): string {
		const key = name * WIDEST + Math.min(columns, WIDEST - 1);
		let text = this.labels.get(key);
		if (text === undefined) {
			if (this.labels.size === LABELS)
				this.labels.clear();
			text = label(this.names[name] ?? "", Math.min(columns, WIDEST - 1));
			this.labels.set(key, text);
		}
		return text;
	}

	private find(number: number): number {
		const name = this.names[number] ?? "";
		const hit = this.query !== "" && name.toLowerCase().includes(this.query);
		const code = 1 + hash(name, this.colours) | (hit ? HIT : 0) | (ASLEEP.test(name) ? SLEEPS : 0);
		if (number >= this.codes.length) {
			const codes = new Uint8Array(2 * number);
			codes.set(this.codes);
			this.codes = codes;
		}
		return this.codes[number] = code;
	}
}
