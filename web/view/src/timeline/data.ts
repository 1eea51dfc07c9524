// data.ts - what is known of the window: asked for a track at a time of need, kept, drawn stretched until better comes.
// SPDX-License-Identifier: Apache-2.0
import { Refusal, type Row, type Server, type Stretch } from "../api";

/** How many entries rows have. */
function sizeOf(rows: Row[]): number {
	return rows.reduce((sum, row) => sum + (row.kind === "values" ? row.time : row.begin).length + 1, 0);
}

function bytesOf(row: Row): ArrayBufferLike {
	return (row.kind === "values" ? row.time : row.begin).buffer;
}

/** How windows are asked for. */
interface Asked extends Stretch {
	width: number;
	generation: number;
	/** Slices that the server must read again are in it, if it can. */
	exact: boolean;
}

interface Known extends Asked {
	rows: Row[];
	/** Several slices are told as one that takes more than a pixel or two. */
	coarse: boolean;
}

function isCoarse({ from, to, width }: Asked, row: Row): boolean {
	const most = 2 * (to - from) / width;
	return row.kind === "slices" && row.count.some((count, i) => count > 1 && row.end[i]! - row.begin[i]! > most);
}

const AROUND = 0.5; // of the view is fetched on each side, so that a pan finds it there
const COARSE = 0.6; // of the resolution wanted: less is asked for anew
const KEEP = 1 << 20; // entries of all tracks, beside those in sight: 40 bytes each
const MOST = 512; // tracks in one request
const AROUND_EXACT = 0.25; // as AROUND
const BAD_REQUEST = 400;
const REST = 150; // ms that a view rests before it is asked for exactly

export class Data {
	/** Of the server, as it last said. */
	generation = 0;
	/** Of the trace: nothing is asked for beyond. */
	end = 1;
	private readonly known = new Map<number, Known>();
	/** What is no longer known, but may be in the last picture. */
	private readonly dropped: Row[] = [];
	private asking: AbortController | null = null;
	private wanted: { view: Stretch; width: number; tracks: number[] } | null = null;
	/** Requests that the picture still waits for. */
	busy = false;
	/** Counts the axes that there were: what was asked of one before is dropped. */
	private axis = 0;
	/** The view rests, and what is coarse in it will be asked for exactly. */
	private resting: ReturnType<typeof setTimeout> | null = null;
	private refused: Stretch | null = null; // a view that no server answers: it is asked for once

	constructor(private readonly server: Server, private readonly changed: () => void,
		private readonly failed: (words: string) => void) { }

	has(track: number): boolean {
		return this.known.has(track);
	}

	rows(track: number): Row[] {
		return this.known.get(track)?.rows ?? [];
	}

	/** Says what is looked at; what is missing is fetched, one request at a time. */
	want(view: Stretch, width: number, tracks: number[]): void {
		const before = this.wanted?.view;
		if (this.refused?.from === view.from && this.refused.to === view.to)
			return;
		this.refused = null;
		if (this.resting !== null && (before?.from !== view.from || before.to !== view.to)) {
			clearTimeout(this.resting);
			this.resting = null;
		}
		this.wanted = { view, width, tracks };
		this.release();
		if (!this.asking)
			void this.fetch();
	}

	/** Gives back at once what no picture needs: answers are of some MB, and garbage would wait. */
	private release(): void {
		if (!this.dropped.length)
			return;
		const kept = new Set<ArrayBufferLike>();
		for (const { rows } of this.known.values())
			for (const row of rows)
				kept.add(bytesOf(row));
		this.server.release(new Set(this.dropped.map(bytesOf).filter(bytes => !kept.has(bytes))));
		this.dropped.length = 0;
	}

	private drop(track: number): void {
		this.dropped.push(...this.known.get(track)?.rows ?? []);
		this.known.delete(track);
	}

	/** Files are elsewhere now: what is known stays only until it has come anew. */
	outdate(): void {
		this.axis++;
		for (const known of this.known.values())
			known.generation = -1;
	}

	private stale(track: number, view: Stretch, width: number): boolean {
		const known = this.known.get(track);
		if (!known || known.generation < this.generation)
			return true;
		if (known.from > Math.max(0, view.from) || known.to < Math.min(view.to, this.end))
			return true;
		const wanted = width / (view.to - view.from);
		return known.width / (known.to - known.from) < wanted * COARSE;
	}

	/** Those that could be told more exactly. */
	private coarse(tracks: number[]): number[] {
		return tracks.filter(track => {
			const known = this.known.get(track);
			return known && !known.exact && known.coarse;
		});
	}

	/** Whether a view that was exact is only moved. */
	private moves(tracks: number[], view: Stretch, width: number): boolean {
		const wanted = width / (view.to - view.from);
		return tracks.every(track => {
			const known = this.known.get(track);
			return known?.exact && known.generation >= this.generation && known.from < view.to && known.to > view.from &&
				known.width / (known.to - known.from) >= wanted * COARSE;
		});
	}

	/** Nothing is missing: says what is coarse when the view has rested. */
	private rest(tracks: number[]): void {
		this.busy = this.resting !== null || this.coarse(tracks).length > 0;
		if (this.busy && this.resting === null)
			this.resting = setTimeout(() => {
				this.resting = null;
				if (!this.asking)
					void this.fetch(true);
			}, REST);
	}

	private async fetch(rested = false): Promise<void> {
		const wanted = this.wanted;
		if (!wanted)
			return;
		const { view, width } = wanted;
		const stale = wanted.tracks.filter(track => this.stale(track, view, width)).slice(0, MOST);
		const tracks = stale.length > 0 || !rested ? stale : this.coarse(wanted.tracks).slice(0, MOST);
		if (tracks.length === 0) {
			this.rest(wanted.tracks);
			return;
		}
		this.busy = true;
		const exact = stale.length === 0 || this.moves(stale, view, width);
		const around = (view.to - view.from) * (exact ? AROUND_EXACT : AROUND);
		const from = Math.max(0, Math.floor(view.from - around));
		const to = Math.max(from + 1, Math.ceil(Math.min(view.to + around, Math.max(this.end, view.to))));
		const pixels = Math.min(16384, Math.max(1, Math.ceil(width * (to - from) / (view.to - view.from))));
		this.asking = new AbortController();
		const { axis } = this;
		try {
			const answer = await this.server.window({ from, to }, pixels, tracks, this.asking.signal, exact);
			if (axis === this.axis)
				this.keep(tracks, { from, to, width: pixels, exact, generation: Math.max(answer.generation, this.generation) }, answer.rows);
		} catch (error) {
			// Without this a server that is gone would be asked without end.
			this.wanted = null;
			this.busy = false;
			this.refused = error instanceof Refusal && error.status === BAD_REQUEST ? view : null;
			this.failed(error instanceof Refusal ? error.message : "trackway view has ended: start it again, and reload");
		}
		this.asking = null;
		this.changed();
		void this.fetch();
	}

	private keep(tracks: number[], how: Asked, rows: Row[]): void {
		for (const track of tracks) {
			this.drop(track);
			this.known.set(track, { ...how, rows: [], coarse: false });
		}
		for (const row of rows) {
			const known = this.known.get(row.track);
			known?.rows.push(row);
			if (known && isCoarse(how, row))
				known.coarse = true;
		}
		this.forget();
	}

	/** What came first goes first, but what is looked at stays. */
	private forget(): void {
		const wanted = new Set(this.wanted?.tracks);
		let size = [...this.known.values()].reduce((sum, { rows }) => sum + sizeOf(rows), 0);
		for (const [track, { rows }] of this.known) {
			if (size <= KEEP)
				break;
			if (wanted.has(track))
				continue;
			size -= sizeOf(rows);
			this.drop(track);
		}
	}
}
