// flame.js - makes a flame graph live: zoom, search, details, keyboard.
// SPDX-License-Identifier: Apache-2.0
//
// The file that holds this script holds the picture too: #frames has a <g data-v="depth offset total self count"> for each
// frame, depth first, in the unit of the picture's data-unit (ns, bytes, or what data-count says), the offset from where its parent begins. Where two
// traces are compared (data-compared) a sixth number is the total before. The same script runs in a page of HTML
// and in an SVG document of its own, so elements are made with their namespace.
"use strict";
(function () {
	const SVG = "http://www.w3.org/2000/svg";
	const XHTML = "http://www.w3.org/1999/xhtml";
	const ROW = 17; // as src/analysis/pictures/flame.c has it
	const BASELINE = 12;
	const INDENT = 3;
	const SHORTEST_TEXT = 3; // columns
	const LEAST = 6; // of a name that is cut: less tells nothing
	const PARAMETERS = 3; // columns: (\u2026)
	const NARROWEST = 0.1; // px
	const WHEEL_STEP = 60; // what wheels and touchpads turn before it counts

	const picture = document.getElementById("flame");
	const layer = document.getElementById("frames");
	const down = picture.dataset.down === "1";
	const unit = picture.dataset.unit;
	const counts = picture.dataset.count; // "calls"
	const compared = picture.dataset.compared === "1";
	const frames = readFrames();
	if (frames.length === 0)
		return;

	let zoomed = frames[0];
	let focused = frames[0];
	let searched = null; // a regular expression
	let columnWidth = 7.3;
	const header = makeHeader();
	const tip = makeTip();
	start();

	// ---- The frames ----

	function readFrames() {
		const all = [];
		const stack = [];
		for (const element of layer.children) {
			const [depth, offset, total, self, count, before] = element.dataset.v.split(" ").map(Number);
			const title = element.querySelector("title");
			const text = element.querySelector("text");
			const parent = depth ? stack[depth - 1] : null;
			const frame = {element, text, depth, total, self, count, before, parent, index: all.length, children: [],
				box: element.querySelector("path"), name: (title || text).textContent,
				start: (parent ? parent.start : 0) + offset, visible: true, hit: false};
			if (parent)
				parent.children.push(frame);
			if (title)
				title.remove(); // the tip says more
			stack.length = depth;
			stack.push(frame);
			element.frame = frame;
			all.push(frame);
		}
		for (let i = all.length - 1; i >= 0; i--) { // the index after the last frame above it, and how deep they go
			const last = all[i].children[all[i].children.length - 1];
			all[i].end = last ? last.end : i + 1;
			all[i].deepest = all[i].children.reduce((most, child) => Math.max(most, child.deepest), all[i].depth);
		}
		return all;
	}

	function isInside(frame, outer) {
		return frame.index >= outer.index && frame.index < outer.end;
	}

	// ---- Numbers for people ----

	function time(ns) {
		for (const [unit, name] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]])
			if (ns >= unit * 0.9999995)
				return (Math.floor(ns / unit * 1000 + 0.5 + 1e-6) / 1000).toFixed(3) + " " + name;
		return Math.round(ns) + " ns";
	}

	function size(bytes) {
		let unit = 0;
		for (; bytes >= 1024 && unit < 6; unit++)
			bytes /= 1024;
		const name = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][unit];
		return unit ? `${bytes.toFixed(1)} ${name}` : `${bytes} ${bytes === 1 ? "byte" : name}`;
	}

	function counted(count) {
		return `${count.toLocaleString("en")} ${count === 1 ? counts.slice(0, -1) : counts}`;
	}

	function amount(value) {
		return unit === "ns" ? time(value) : unit === "bytes" ? size(value) : counted(value);
	}

	function share(part, whole) {
		return (whole ? 100 * part / whole : 0).toFixed(2) + " %";
	}

	function columnsOf(character) {
		return character.codePointAt(0) < 0x800 ? 1 : 2;
	}

	function columnsIn(text) {
		return [...text].reduce((sum, character) => sum + columnsOf(character), 0);
	}

	/** At most so many columns; the middle gives way. */
	function cut(text, columns) {
		let room = columns - 1;
		if (columnsIn(text) <= columns)
			return text;
		const characters = [...text];
		let left = 0;
		let right = characters.length;
		for (let fromLeft = true; left < right; fromLeft = !fromLeft) {
			room -= columnsOf(characters[fromLeft ? left : right - 1]);
			if (room < 0)
				break;
			left += fromLeft ? 1 : 0;
			right -= fromLeft ? 0 : 1;
		}
		return characters.slice(0, left).join("") + "\u2026" + characters.slice(right).join("");
	}

	/** Where what is open at the end of a text begins: 0 if nothing is, or it is never opened. */
	function opened(name, end) {
		let depth = 0;
		for (let at = end - 1; at >= 0; at--) {
			if (")>]}".includes(name[at]) && name.slice(at - 1, at + 1) !== "->")
				depth++;
			else if ("(<[{".includes(name[at]) && --depth <= 0)
				return depth === 0 ? at : 0;
		}
		return 0;
	}

	/** Where the function's own name is: "draw" in "ns::shape<int>::draw(int)". */
	function ownPlace(name) {
		let end = name.length;
		for (let at; end > 1 && ")>]}".includes(name[end - 1]) && (at = opened(name, end)) > 0;)
			end = at;
		const scope = name.lastIndexOf("::", end - 1);
		const begin = scope < 0 ? 0 : scope + 2;
		const own = name.slice(begin, end).trim();
		return own === "" || /[()<>]|^operator/.test(own) ? [0, name.length] : [begin, end];
	}

	/** A function's own name stays whole as long as it can, as src/analysis/pictures/names.c has it. */
	function fit(name, columns) {
		if (columnsIn(name) <= columns || columnsIn(name) !== name.length)
			return cut(name, columns);
		const plain = name.replace(/( const| volatile| noexcept|&)+$/, "");
		const [begin, end] = ownPlace(plain);
		const room = columns - (end - begin);
		if (room < LEAST)
			return cut(plain.slice(begin, end).trim(), columns);
		const least = room - Math.min(PARAMETERS, plain.length - end);
		const scope = begin <= least ? begin : least < LEAST ? 0 : least;
		return (scope ? cut(plain.slice(0, begin), scope) : "") + plain.slice(begin, end) + cut(plain.slice(end), room - scope);
	}

	// ---- Drawing ----

	function measure() {
		const sample = document.createElementNS(SVG, "text");
		sample.textContent = "0".repeat(40);
		layer.append(sample);
		const width = sample.getComputedTextLength() / 40;
		sample.remove();
		return width || 7.3;
	}

	function drawText(frame, x, y, width) {
		const columns = Math.floor((width - 2 * INDENT) / columnWidth);
		if (columns < SHORTEST_TEXT || columns < LEAST && columnsIn(frame.name) > columns) {
			if (frame.text)
				frame.text.remove();
			frame.text = null;
			return;
		}
		if (!frame.text) {
			frame.text = document.createElementNS(SVG, "text");
			frame.element.append(frame.text);
		}
		const shown = fit(frame.name, columns);
		if (frame.text.textContent !== shown)
			frame.text.textContent = shown;
		frame.text.setAttribute("x", (x + INDENT).toFixed(2));
		frame.text.setAttribute("y", y + BASELINE);
	}

	function drawFrame(frame, page) {
		const around = isInside(zoomed, frame) && frame !== zoomed;
		const x = around ? page.left : page.left + (frame.start - zoomed.start) * page.scale;
		const width = around || frame === zoomed ? page.width : frame.total * page.scale;
		frame.visible = (around || isInside(frame, zoomed)) && width >= NARROWEST;
		frame.element.style.display = frame.visible ? "" : "none";
		frame.element.classList.toggle("around", around);
		if (!frame.visible)
			return;
		const y = page.top + (down ? frame.depth : zoomed.deepest - frame.depth) * ROW;
		const drawn = Math.max(width - Math.min(width / 5, 1), 0.05);
		frame.box.setAttribute("d", `M${x.toFixed(2)} ${y}h${drawn.toFixed(2)}v${ROW - 1}H${x.toFixed(2)}z`);
		frame.place = {x, y, width};
		drawText(frame, x, y, width);
	}

	function draw() {
		const all = picture.getBoundingClientRect().width;
		const left = all < 600 ? 4 : 10;
		const width = Math.max(all - 2 * left, 50);
		header.place.setAttribute("width", all);
		const top = Math.ceil(header.box.getBoundingClientRect().height) + 6;
		header.place.setAttribute("height", top);
		const page = {left, width, top, scale: zoomed.total ? width / zoomed.total : 0};
		// Not lower than the window: the tip may need the room.
		picture.setAttribute("height", Math.max(top + (zoomed.deepest + 1) * ROW + 10, window.innerHeight));
		for (const frame of frames)
			drawFrame(frame, page);
		hideTip();
	}

	function zoom(frame) {
		zoomed = frame;
		keepPlace();
		header.reset.disabled = frame === frames[0];
		if (!focused.visible || !isInside(focused, frame))
			moveFocus(frame, false);
		draw();
		showMatches();
	}

	// ---- The address: "#0.2" is the third frame above the first one above all. ----

	function placeOf(frame) {
		const steps = [];
		for (; frame.parent; frame = frame.parent)
			steps.unshift(frame.parent.children.indexOf(frame));
		return steps.join(".");
	}

	function frameAt(place) {
		let frame = frames[0];
		for (const step of place.split(".").filter(Boolean))
			frame = frame && frame.children[Number(step)];
		return frame || frames[0];
	}

	// Some places have no address that can be changed.
	function keepPlace() {
		const place = placeOf(zoomed);
		if (place === location.hash.slice(1))
			return;
		try {
			history.pushState(null, "", "#" + place);
		} catch (error) {
			return;
		}
	}

	function goToPlace() {
		const frame = frameAt(location.hash.slice(1));
		if (frame !== zoomed)
			zoom(frame);
	}

	// ---- The wheel: a step inward is to the frame below the pointer, one outward to what called it. ----

	let turned = 0;

	function onWheel(event) {
		const frame = frameOf(event);
		if (!frame || event.shiftKey || event.ctrlKey)
			return;
		event.preventDefault();
		turned = Math.sign(turned) === Math.sign(event.deltaY) ? turned + event.deltaY : event.deltaY;
		if (Math.abs(turned) < WHEEL_STEP)
			return;
		let next = turned > 0 ? zoomed.parent : frame;
		while (turned < 0 && next.parent && next.parent !== zoomed && isInside(next, zoomed) && next !== zoomed)
			next = next.parent;
		turned = 0;
		if (next && next !== zoomed && (next === zoomed.parent || isInside(next, zoomed)))
			zoom(next);
	}

	// ---- Search ----

	function expression(text) {
		header.search.removeAttribute("aria-invalid");
		if (text === "")
			return null;
		try {
			return new RegExp(text, text === text.toLowerCase() ? "i" : "");
		} catch (error) {
			header.search.setAttribute("aria-invalid", "true");
			return null;
		}
	}

	// Time is counted once: a match inside a match adds nothing.
	function matchesIn(outer) {
		let count = 0;
		let total = 0;
		let counted = outer.index;
		for (let i = outer.index; i < outer.end; i++) {
			if (!frames[i].hit)
				continue;
			count++;
			if (i >= counted) {
				total += frames[i].total;
				counted = frames[i].end;
			}
		}
		return {count, total};
	}

	function showMatches() {
		const invalid = header.search.getAttribute("aria-invalid") === "true";
		header.found.textContent = invalid ? "not a regular expression" : "";
		if (!searched)
			return;
		const {count, total} = matchesIn(zoomed);
		const where = zoomed === frames[0] ? "of all" : "of what is shown";
		header.found.textContent = `${count} ${count === 1 ? "frame" : "frames"}, ` +
			`${share(total, zoomed.total)} ${where} (${amount(total)})`;
	}

	function search() {
		searched = expression(header.search.value);
		for (const frame of frames) {
			frame.hit = frame.index > 0 && searched !== null && searched.test(frame.name);
			frame.element.classList.toggle("hit", frame.hit);
		}
		layer.classList.toggle("searched", searched !== null);
		showMatches();
	}

	function nextMatch(step) {
		for (let i = 1; i <= frames.length; i++) {
			const frame = frames[(focused.index + step * i + frames.length * 2) % frames.length];
			if (frame.hit && frame.visible) {
				moveFocus(frame, false);
				reveal(frame);
				showTipAt(frame);
				return;
			}
		}
	}

	// ---- Details ----

	function change(frame) {
		const more = frame.total - frame.before;
		const sign = more < 0 ? "\u2212" : "+";
		const part = frame.before ? `${sign}${(100 * Math.abs(more) / frame.before).toFixed(2)} %` : "new";
		return more ? `${sign}${amount(Math.abs(more))}, ${part}` : "none";
	}

	function describe(frame) {
		if (compared)
			return [["before", amount(frame.before)], ["after", amount(frame.total)], ["change", change(frame)],
				["share", share(frame.total, frames[0].total) + " of all after"]];
		const lines = [["total", amount(frame.total) + ", " + share(frame.total, frames[0].total) + " of all"]];
		if (frame.parent && frame.parent !== frames[0])
			lines.push(["", share(frame.total, frame.parent.total) + " of its caller"]);
		if (frame.index === 0)
			return lines;
		lines.push(["self", amount(frame.self) + ", " + share(frame.self, frames[0].total) + " of all"]);
		if (frame.count > 0 && unit) // threads are not called
			lines.push([counts, frame.count.toLocaleString("en")]);
		if (frame.count > 1 && counts === "calls" && unit === "ns")
			lines.push(["mean", time(frame.total / frame.count)]);
		return lines;
	}

	function fillTip(frame) {
		tip.box.replaceChildren(make("strong", {}, frame.name));
		const table = make("dl", {});
		for (const [what, value] of describe(frame))
			table.append(make("dt", {}, what), make("dd", {}, value));
		tip.box.append(table);
	}

	// The tip stays in the window, and never covers the point that it is about.
	function showTip(frame, x, y) {
		fillTip(frame);
		tip.place.style.display = "";
		const page = picture.getBoundingClientRect();
		const width = Math.min(460, page.width - 8);
		tip.place.setAttribute("width", width);
		const size = tip.box.getBoundingClientRect();
		const left = Math.max(4, Math.min(x + 12, page.width - size.width - 8));
		const below = y + page.top + 20 + size.height < window.innerHeight;
		tip.place.setAttribute("x", left);
		tip.place.setAttribute("y", below ? y + 20 : Math.max(y - size.height - 10, -page.top));
	}

	function showTipAt(frame) {
		const x = Math.min(frame.place.x + frame.place.width / 2, frame.place.x + 60);
		showTip(frame, x, frame.place.y);
	}

	function hideTip() {
		tip.place.style.display = "none";
	}

	// ---- The keyboard ----

	function moveFocus(frame, take) {
		focused.element.setAttribute("tabindex", "-1");
		focused = frame;
		frame.element.setAttribute("tabindex", "0");
		frame.element.setAttribute("role", "button");
		frame.element.setAttribute("aria-label", frame.name + ", " +
			describe(frame).map(line => line.join(" ")).join(", "));
		if (take)
			frame.element.focus({preventScroll: true});
	}

	function reveal(frame) {
		const page = picture.getBoundingClientRect();
		const y = page.top + frame.place.y;
		const head = header.box.getBoundingClientRect().height;
		if (y < head || y + ROW > window.innerHeight)
			window.scrollBy(0, y - (window.innerHeight + head) / 2);
	}

	function go(frame) {
		if (!frame || !frame.visible)
			return;
		moveFocus(frame, true);
		reveal(frame);
		showTipAt(frame);
	}

	function widestChild(frame) {
		return frame.children.reduce((most, child) => !most || child.total > most.total ? child : most, null);
	}

	function neighbour(frame, step) {
		for (let i = frame.index + step; i >= 0 && i < frames.length; i += step)
			if (frames[i].depth === frame.depth && frames[i].visible)
				return frames[i];
		return null;
	}

	function onFrameKey(event) {
		const inward = () => go(widestChild(focused));
		const outward = () => go(focused.parent);
		const keys = {
			ArrowUp: down ? outward : inward,
			ArrowDown: down ? inward : outward,
			ArrowLeft: () => go(neighbour(focused, -1)),
			ArrowRight: () => go(neighbour(focused, 1)),
			Home: () => go(frames[0]),
			Enter: () => { zoom(focused); go(focused); },
			" ": () => { zoom(focused); go(focused); },
		};
		if (!Object.hasOwn(keys, event.key) || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		keys[event.key]();
	}

	function onSearchKey(event) {
		if (event.key === "Enter")
			nextMatch(event.shiftKey ? -1 : 1);
	}

	function onKey(event) {
		const inSearch = document.activeElement === header.search;
		if ((event.ctrlKey || event.metaKey) && event.key === "f" && !inSearch) {
			event.preventDefault();
			header.search.focus();
			header.search.select();
		} else if (event.key === "/" && !inSearch) {
			event.preventDefault();
			header.search.focus();
			header.search.select();
		} else if (event.key === "Escape" && inSearch && header.search.value !== "") {
			header.search.value = "";
			search();
		} else if (event.key === "Escape") {
			hideTip();
			zoom(frames[0]);
		}
	}

	// ---- What is around the frames ----

	function make(name, attributes, text) {
		const element = document.createElementNS(XHTML, name);
		for (const [key, value] of Object.entries(attributes))
			element.setAttribute(key, value);
		if (text !== undefined)
			element.textContent = text;
		return element;
	}

	function foreign(box) {
		const place = document.createElementNS(SVG, "foreignObject");
		place.append(box);
		picture.append(place);
		return place;
	}

	function makeHeader() {
		const title = document.getElementById("title");
		const summary = document.getElementById("summary");
		const box = make("div", {class: "header"});
		const tools = make("div", {class: "tools", role: "search"});
		const found = make("output", {"aria-live": "polite"});
		const searchBox = make("input", {type: "search", placeholder: "Search (regular expression)",
			"aria-label": "Search by regular expression", spellcheck: "false", autocomplete: "off"});
		const reset = make("button", {type: "button", title: "Show all (Esc)"}, "Reset zoom");
		reset.disabled = true;
		tools.append(searchBox, reset, found);
		box.append(make("h1", {}, picture.querySelector("title").textContent), make("p", {}, summary.textContent));
		const legend = document.getElementById("legend");
		if (legend)
			box.append(frameLegend(legend));
		box.append(tools);
		picture.querySelector("title").remove();
		title.remove();
		summary.remove();
		if (document.documentElement === picture) // its title was the document's
			document.title = box.firstChild.textContent;
		return {place: foreign(box), box, search: searchBox, reset, found};
	}

	function frameLegend(legend) {
		const place = document.createElementNS(SVG, "svg");
		for (const [key, value] of Object.entries({class: "legend", width: 720, height: 16, role: "img"}))
			place.setAttribute(key, value);
		place.setAttribute("aria-label", "Blue is less than before, red more; widths are those after");
		legend.removeAttribute("transform");
		place.append(legend);
		return place;
	}

	function makeTip() {
		const box = make("div", {class: "tip", role: "tooltip"});
		const place = foreign(box);
		place.setAttribute("height", 1);
		place.style.display = "none";
		place.style.pointerEvents = "none";
		return {place, box};
	}

	function frameOf(event) {
		const element = event.target.closest("#frames > g");
		return element ? element.frame : null;
	}

	function onMove(event) {
		const frame = frameOf(event);
		const page = picture.getBoundingClientRect();
		if (frame)
			showTip(frame, event.clientX - page.left, event.clientY - page.top);
	}

	// The header stays in sight; a foreignObject cannot be sticky.
	function onScroll() {
		header.place.setAttribute("y", Math.max(0, -picture.getBoundingClientRect().top));
	}

	function start() {
		picture.removeAttribute("viewBox");
		picture.setAttribute("width", "100%");
		picture.classList.add("live");
		columnWidth = measure();
		layer.setAttribute("role", "group");
		layer.setAttribute("aria-label", "Frames: arrows move, Enter and the wheel zoom, Escape shows all, / searches");
		layer.addEventListener("pointermove", onMove);
		layer.addEventListener("pointerleave", hideTip);
		layer.addEventListener("click", event => { const frame = frameOf(event); if (frame) zoom(frame); });
		layer.addEventListener("wheel", onWheel, {passive: false});
		layer.addEventListener("keydown", onFrameKey);
		layer.addEventListener("focusin", () => { if (focused.element.matches(":focus-visible")) showTipAt(focused); });
		layer.addEventListener("focusout", hideTip);
		header.search.addEventListener("input", search);
		header.search.addEventListener("keydown", onSearchKey);
		header.reset.addEventListener("click", () => zoom(frames[0]));
		window.addEventListener("keydown", onKey);
		window.addEventListener("popstate", goToPlace);
		window.addEventListener("hashchange", goToPlace);
		window.addEventListener("resize", draw);
		window.addEventListener("scroll", onScroll, {passive: true});
		moveFocus(frames[0], false);
		draw();
		goToPlace();
		if (!down)
			window.scrollTo(0, document.documentElement.scrollHeight); // the root is at the bottom
		onScroll();
	}
})();
