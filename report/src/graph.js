// SPDX-License-Identifier: MIT
/** The graphs that Graphviz has laid out: zoom, pan, and the facts of a node. */
import { select } from "d3-selection";
import { zoom, zoomIdentity } from "d3-zoom";
import { nodes } from "./data.js";
import { bytes, nanoseconds, seconds } from "./format.js";

const FORMATS = [[/_bytes$/, bytes], [/^(life|cpu)_s$/, (value) => nanoseconds(value * 1e9)],
	[/_s$/, seconds]];

function shown(name, value) {
	if (typeof value !== "number")
		return String(value);
	const format = FORMATS.find(([pattern]) => pattern.test(name));
	return format ? format[1](value) : String(value);
}

function showFacts(id, facts) {
	const panel = document.getElementById("facts"), list = panel.querySelector("dl");
	panel.querySelector("h3").textContent = facts.label ?? facts.program ?? facts.path ?? id;
	list.replaceChildren();
	for (const [name, value] of Object.entries(facts)) {
		if (value === null || value === false)
			continue;
		const term = document.createElement("dt"), text = document.createElement("dd");
		term.textContent = name.replaceAll("_", " ");
		text.textContent = shown(name, value);
		list.append(term, text);
	}
	panel.dataset.node = id;
	panel.hidden = false;
}

export function closeFacts() {
	document.getElementById("facts").hidden = true;
}

function addNodes(svg, prefix, facts) {
	for (const node of svg.querySelectorAll("g.node")) {
		const id = node.id.slice(prefix.length), known = facts[id];
		if (!known)
			continue;
		node.setAttribute("tabindex", "0");
		node.setAttribute("role", "button");
		node.setAttribute("aria-label", `${known.program ?? known.path ?? known.label ?? id}: show facts`);
		const show = () => {
			svg.querySelector("g.node.selected")?.classList.remove("selected");
			node.classList.add("selected");
			showFacts(id, known);
		};
		node.addEventListener("click", show);
		node.addEventListener("keydown", (event) => {
			if (event.key === "Enter" || event.key === " ") {
				event.preventDefault();
				event.stopPropagation();
				show();
			}
		});
	}
}

function addButtons(box, acts) {
	const bar = document.createElement("div");
	bar.className = "buttons";
	for (const [label, title, act] of acts) {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = label;
		button.title = title;
		button.setAttribute("aria-label", title);
		button.addEventListener("click", act);
		bar.append(button);
	}
	const hint = document.createElement("span");
	hint.className = "note hint";
	hint.textContent = "Click, then zoom by the wheel.";
	bar.append(hint);
	box.before(bar);
}

/** How far a node is outside of its box, in pixels: what brings it into sight. */
function outside(node, box) {
	const a = node.getBoundingClientRect(), b = box.getBoundingClientRect();
	const by = (from, to, low, high) => (from < low ? low - from : to > high ? high - to : 0);
	return [by(a.left, a.right, b.left, b.right), by(a.top, a.bottom, b.top, b.bottom)];
}

const LEGIBLE = 11, FONT = 10; // pixels; units of the picture

/** How much larger a picture must be for its names to be read. */
const enlargement = (svg) => {
	const pixels = svg.getScreenCTM()?.a ?? 0;
	return pixels && FONT * pixels < 0.75 * LEGIBLE ? LEGIBLE / (FONT * pixels) : 1;
};

/** The middle of the first node, in units of the picture. */
function firstNode(svg) {
	const node = svg.querySelector("g.node"), box = node?.getBoundingClientRect();
	return box && new DOMPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2)
		.matrixTransform(svg.getScreenCTM().inverse());
}

/** By how many pixels a picture must move not to leave room in its box that it could fill. */
function room(inner, box) {
	const a = inner.getBoundingClientRect(), b = box.getBoundingClientRect();
	const by = (low, high, from, to) => (high - low < to - from ? (from + to - low - high) / 2
		: low > from ? from - low : high < to ? to - high : 0);
	return [by(a.left, a.right, b.left, b.right), by(a.top, a.bottom, b.top, b.bottom)];
}

function makeZoomable(box, svg) {
	const inner = svg.querySelector("g.graph"), own = inner.getAttribute("transform");
	const behaviour = zoom().scaleExtent([0.5, 60])
		.filter((event) => !event.button && (event.type !== "wheel" || event.ctrlKey || box.contains(document.activeElement)))
		.on("zoom", ({ transform }) => inner.setAttribute("transform", `${transform} ${own}`));
	const target = select(svg).call(behaviour).on("dblclick.zoom", null);
	const by = (factor) => target.call(behaviour.scaleBy, factor);
	const move = (x, y) => target.call(behaviour.translateBy, x, y);
	const movePixels = (x, y) => {
		const pixels = inner.getScreenCTM().a / Number(/scale\(([\d.]+)/.exec(own)?.[1] ?? 1);
		if (x || y)
			move(x / pixels, y / pixels);
	};
	const reset = () => target.call(behaviour.transform, zoomIdentity);
	// What is at the begin of the run stays where it is, and whole.
	const read = () => {
		reset();
		const point = firstNode(svg), k = enlargement(svg);
		if (!point || k <= 1)
			return;
		target.call(behaviour.scaleTo, k, [point.x, point.y]);
		movePixels(...room(inner, box));
		movePixels(...outside(svg.querySelector("g.node"), box));
	};
	const keys = { "+": () => by(1.4), "=": () => by(1.4), "-": () => by(1 / 1.4), 0: reset, ArrowLeft: () => move(40, 0),
		ArrowRight: () => move(-40, 0), ArrowUp: () => move(0, 40), ArrowDown: () => move(0, -40) };
	box.tabIndex = 0;
	box.setAttribute("role", "group");
	box.setAttribute("aria-label", "Graph; + and - zoom, the arrows move, 0 shows all, Tab goes from node to node");
	box.addEventListener("keydown", (event) => {
		if (keys[event.key]) {
			event.preventDefault();
			keys[event.key]();
		}
	});
	box.addEventListener("focusin", ({ target: node }) => {
		if (node.matches("g.node"))
			movePixels(...outside(node, box));
	});
	addButtons(box, [["+", "Zoom in", () => by(1.4)], ["\u2212", "Zoom out", () => by(1 / 1.4)], ["All", "Show all", reset],
		["Aa", "Make names legible", read]]);
	read();
	let before = null;
	addEventListener("beforeprint", () => {
		before = inner.getAttribute("transform");
		inner.setAttribute("transform", own);
	});
	addEventListener("afterprint", () => before && inner.setAttribute("transform", before));
}

export function addGraphs() {
	for (const box of document.querySelectorAll("div.graph")) {
		const svg = box.querySelector("svg");
		// Titles of Graphviz are ids, which say nothing to anybody.
		for (const title of svg.querySelectorAll("title"))
			title.remove();
		const id = box.id.replace(/-picture$/, "");
		addNodes(svg, `${id}-`, nodes(id));
		makeZoomable(box, svg);
	}
	document.getElementById("facts-close").addEventListener("click", closeFacts);
	document.addEventListener("keydown", (event) => {
		if (event.key === "Escape")
			closeFacts();
	});
}
