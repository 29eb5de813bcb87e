// SPDX-License-Identifier: MIT
import { charts, legends } from "./charts.js";
import { table } from "./data.js";
import { addGraphs } from "./graph.js";
import { fitLabels, thinLabels } from "./labels.js";
import { addTables } from "./tables.js";
import { drawTimeline } from "./timeline.js";

function legend(entries) {
	const list = document.createElement("ul");
	list.className = "legend";
	for (const [name, colour] of entries) {
		const item = document.createElement("li"), swatch = document.createElement("span");
		swatch.className = "swatch";
		swatch.style.background = colour;
		item.append(swatch, name);
		list.append(item);
	}
	return list;
}

/** What draws a figure again, at the width that it has. */
function drawer(figure) {
	const { chart: name, table: id } = figure.dataset;
	if (name === "timeline")
		return drawTimeline(figure);
	const draw = () => {
		const chart = charts[name](table(id)?.rows ?? [], Math.max(320, figure.clientWidth), id);
		figure.replaceChildren(...[legends[name] && chart ? legend(legends[name]) : null, chart].filter(Boolean));
		thinLabels(figure);
		fitLabels(figure);
		return chart !== null;
	};
	return draw() && draw;
}

function drawAll() {
	const again = [];
	for (const figure of document.querySelectorAll("figure.chart")) {
		const draw = drawer(figure);
		if (draw) {
			figure.dataset.drawn = "yes";
			again.push(draw);
		} else {
			figure.dataset.drawn = "nothing";
			figure.textContent = "Nothing to draw: the trace knows nothing of this.";
		}
	}
	let width = innerWidth;
	addEventListener("resize", () => {
		if (innerWidth !== width) {
			width = innerWidth;
			again.forEach((draw) => draw());
		}
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => again.forEach((draw) => draw()));
}

// page.css: what needs a script is shown, the graphs have a window.
document.documentElement.dataset.script = "yes";
drawAll();
addTables();
addGraphs();
document.documentElement.dataset.ready = "yes";
