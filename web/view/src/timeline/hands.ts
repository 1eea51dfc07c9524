// hands.ts - wheel, pinch and drag on the timeline.
// SPDX-License-Identifier: Apache-2.0

export interface Hands {
	/** Whether a point of the element is in the picture. */
	inside(x: number, y: number): boolean;
	zoom(factor: number, x: number): void;
	pan(pixels: number): void;
	scroll(pixels: number): void;
	hover(x: number, y: number): void;
	leave(): void;
	click(x: number, y: number): void;
	double(x: number, y: number): void;
	select(x0: number, y0: number, x1: number, y1: number, done: boolean): void;
}

const CLICK = 4; // pixels that a click may move

interface Point {
	x: number;
	y: number;
}

/** Gives the hands of a person to a picture. Points are relative to `origin`. */
export function attach(element: HTMLElement, origin: HTMLElement, hands: Hands): void {
	const pointers = new Map<number, Point>();
	let start: Point | null = null;
	let moved = false;
	let panning = false;
	const place = (event: MouseEvent): Point => {
		const box = origin.getBoundingClientRect();
		return { x: event.clientX - box.left, y: event.clientY - box.top };
	};
	const inPicture = (event: MouseEvent) => {
		const { x, y } = place(event);
		return hands.inside(x, y) && !(event.target as Element).closest("#labels, #pinned, #top, #tip");
	};
	element.addEventListener("wheel", event => {
		if (!inPicture(event) && !(event.target as Element).closest("#ruler, #overview"))
			return;
		const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
		const onAxis = (event.target as Element).closest("#ruler, #overview") !== null;
		if (event.ctrlKey || event.metaKey || onAxis && !event.shiftKey)
			hands.zoom(Math.exp(event.deltaY * (event.deltaMode ? 0.06 : 0.0035)), place(event).x);
		else if (sideways)
			hands.pan(event.deltaMode ? sideways * 16 : sideways);
		else
			hands.scroll(event.deltaMode ? event.deltaY * 16 : event.deltaY);
		event.preventDefault();
	}, { passive: false });
	element.addEventListener("pointerdown", event => {
		if (!inPicture(event) || event.button > 1)
			return;
		const point = place(event);
		pointers.set(event.pointerId, point);
		start = pointers.size === 1 ? point : null;
		moved = false;
		panning = event.shiftKey || event.button === 1 || event.pointerType === "touch";
		element.setPointerCapture(event.pointerId);
		if (event.button === 1)
			event.preventDefault();
	});
	element.addEventListener("pointermove", event => {
		const before = pointers.get(event.pointerId);
		const point = place(event);
		if (!before) {
			if (inPicture(event))
				hands.hover(point.x, point.y);
			else
				hands.leave();
			return;
		}
		if (pointers.size === 2)
			pinch(pointers, event.pointerId, point, hands);
		pointers.set(event.pointerId, point);
		if (!start || pointers.size > 1)
			return;
		moved ||= Math.hypot(point.x - start.x, point.y - start.y) > CLICK;
		if (!moved)
			return;
		hands.leave();
		if (panning) {
			hands.pan(before.x - point.x);
			hands.scroll(before.y - point.y);
		} else {
			hands.select(start.x, start.y, point.x, point.y, false);
		}
	});
	const up = (event: PointerEvent) => {
		const point = place(event);
		if (!pointers.delete(event.pointerId) || !start)
			return;
		if (!moved)
			hands.click(start.x, start.y);
		else if (!panning)
			hands.select(start.x, start.y, point.x, point.y, true);
		start = null;
	};
	element.addEventListener("pointerup", up);
	element.addEventListener("pointercancel", event => {
		pointers.delete(event.pointerId);
		start = null;
	});
	element.addEventListener("dblclick", event => {
		const { x, y } = place(event);
		if (inPicture(event))
			hands.double(x, y);
	});
	element.addEventListener("pointerleave", () => hands.leave());
}

/** Two fingers: what is under them stays under them. */
function pinch(pointers: Map<number, Point>, moving: number, to: Point, hands: Hands): void {
	const other = [...pointers].find(([id]) => id !== moving)?.[1];
	const from = pointers.get(moving);
	if (!other || !from)
		return;
	const before = Math.max(10, Math.abs(from.x - other.x));
	const after = Math.max(10, Math.abs(to.x - other.x));
	hands.zoom(before / after, (to.x + other.x) / 2);
	hands.pan((from.x - to.x) / 2);
	hands.scroll((from.y - to.y) / 2);
}
