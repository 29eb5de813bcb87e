// SPDX-License-Identifier: MIT
/** The graphs that Graphviz has laid out: zoom, pan, and the facts of a node. */
import { select } from "d3-selection";
import { zoom, zoomIdentity } from "d3-zoom";
import { nodes } from "./data.js";
import { bytes, nanoseconds, rate, seconds } from "./format.js";

const FORMATS = [[/_bytes$|^size$|^rss$/, bytes], [/_ns$/, nanoseconds], [/_rate$/, rate], [/_s$|^(start|end|life|cpu)$/, seconds]];

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

function addNodes(svg, facts) {
	for (const node of svg.querySelectorAll("g.node")) {
		const known = facts[node.id];
		if (!known)
			continue;
		node.setAttribute("tabindex", "0");
		node.setAttribute("role", "button");
		node.setAttribute("aria-label", `${known.program ?? known.path ?? known.label ?? node.id}: show facts`);
		const show = () => {
			svg.querySelector("g.node.selected")?.classList.remove("selected");
			node.classList.add("selected");
			showFacts(node.id, known);
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

function makeZoomable(box, svg) {
	const inner = svg.querySelector("g.graph"), own = inner.getAttribute("transform");
	const behaviour = zoom().scaleExtent([0.5, 60])
		.filter((event) => !event.button && (event.type !== "wheel" || event.ctrlKey || box.contains(document.activeElement)))
		.on("zoom", ({ transform }) => inner.setAttribute("transform", `${transform} ${own}`));
	const target = select(svg).call(behaviour).on("dblclick.zoom", null);
	const by = (factor) => target.call(behaviour.scaleBy, factor);
	const move = (x, y) => target.call(behaviour.translateBy, x, y);
	const reset = () => target.call(behaviour.transform, zoomIdentity);
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
		const [x, y] = node.matches("g.node") ? outside(node, box) : [0, 0];
		const pixels = inner.getScreenCTM().a / Number(/scale\(([\d.]+)/.exec(own)?.[1] ?? 1);
		if (x || y)
			move(x / pixels, y / pixels);
	});
	addButtons(box, [["+", "Zoom in", () => by(1.4)], ["\u2212", "Zoom out", () => by(1 / 1.4)], ["All", "Show all", reset]]);
}

export function addGraphs() {
	for (const box of document.querySelectorAll("div.graph")) {
		const svg = box.querySelector("svg");
		// Titles of Graphviz are ids, which say nothing to anybody.
		for (const title of svg.querySelectorAll("title"))
			title.remove();
		addNodes(svg, nodes(box.id.replace(/-picture$/, "")));
		makeZoomable(box, svg);
	}
	document.getElementById("facts-close").addEventListener("click", closeFacts);
	document.addEventListener("keydown", (event) => {
		if (event.key === "Escape")
			closeFacts();
	});
}
