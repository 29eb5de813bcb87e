// SPDX-License-Identifier: MIT
/** The time line: bars of what ran, and below them processes, bytes per second and memory, all on one axis of
 * time that can be zoomed. */
import * as Plot from "@observablehq/plot";
import { select } from "d3-selection";
import { zoom, zoomIdentity } from "d3-zoom";
import { READ, WRITTEN, base, colourOf, isColoured, textOn } from "./charts.js";
import { table } from "./data.js";
import { thinLabels } from "./labels.js";
import { bytes, count, nanoseconds, rate, seconds, tick, timeTicks, wholeTicks } from "./format.js";

const LEFT = 70, RIGHT = 24;
const ticksOf = (x, width) => timeTicks(x, Math.max(2, Math.round((width - LEFT - RIGHT) / 100)));

const FONT = 10, LETTER = 6; // pixels
const nameOf = (d) => (d.processes > 1 || d.first ? d.task ?? d.step : d.label) ?? "";

/** Bars with room for their name. */
function named(rows, x, width, height) {
	const scale = (width - LEFT - RIGHT) / (x[1] - x[0]);
	return height < FONT + 2 ? [] : rows.filter((d) => nameOf(d) &&
		(Math.min(d.to_s, x[1]) - Math.max(d.from_s, x[0])) * scale > (nameOf(d).length + 1) * LETTER);
}

function gantt(rows, x, width) {
	const lanes = 1 + Math.max(...rows.map((d) => d.lane));
	const height = Math.max(3, Math.min(18, 420 / lanes));
	const least = (x[1] - x[0]) / width; // a pixel
	const shown = rows.filter((d) => d.to_s >= x[0] && d.from_s <= x[1]);
	const bar = { y: "lane", x1: "from_s", x2: (d) => Math.max(d.to_s, d.from_s + least) };
	return Plot.plot(base(width, {
		height: 30 + lanes * height, marginTop: 6, marginBottom: 24, clip: true,
		x: { domain: x, label: null, grid: true, ...ticksOf(x, width) }, y: { axis: null, domain: [...Array(lanes).keys()], type: "band" },
		marks: [
			Plot.barX(shown, { ...bar, fill: (d) => colourOf(d.step), insetTop: 0.5, insetBottom: 0.5, clip: true,
				ariaLabel: "bars",
				title: (d) => `${d.label ?? "?"}${d.processes > 1 ? ` (${d.processes} processes)` : ""}\nstep ${d.step ?? "-"}, ` +
					`job ${d.job ?? "-"}\n${seconds(d.from_s)} to ${seconds(d.to_s)}: ${nanoseconds((d.to_s - d.from_s) * 1e9)}` +
					`${d.critical ? "\non the critical path" : ""}${d.failed ? "\nfailed" : ""}` }),
			Plot.barX(shown.filter((d) => d.critical), { ...bar, fill: "none", stroke: "var(--critical)", strokeWidth: 1.5,
				pointerEvents: "none", clip: true }),
			Plot.text(named(shown, x, width, height), { y: "lane", x: (d) => (Math.max(d.from_s, x[0]) + Math.min(d.to_s, x[1])) / 2,
				text: (d) => nameOf(d), fill: (d) => textOn(d.step), fontSize: FONT, pointerEvents: "none", clip: true,
				ariaLabel: "names" }),
			Plot.dot(shown.filter((d) => d.failed), { y: "lane", x: "to_s", dx: -6, symbol: "times",
				stroke: "var(--critical)", r: 4, pointerEvents: "none", clip: true }),
		],
	}));
}

/** Steps: a value holds for its interval. */
function area(rows, x, width, step, { label, series, format }) {
	const data = rows.filter((d) => d.from_s + step >= x[0] && d.from_s <= x[1]);
	const value = (key) => (d) => (d[key] === null || !/^(read|written)_bytes$/.test(key) ? d[key] : d[key] / step);
	if (!data.some((d) => series.some(([key]) => d[key] !== null)))
		return null;
	const most = Math.max(...data.flatMap((d) => series.map(([key]) => d[key] ?? 0)));
	const last = data[data.length - 1];
	data.push({ ...last, from_s: last.from_s + step });
	return Plot.plot(base(width, {
		height: 116, marginTop: 24, marginBottom: 22, x: { domain: x, label: null, ...ticksOf(x, width) },
		y: { label, grid: true, tickFormat: tick(format), ticks: format === count ? wholeTicks(most, 3) : 3, zero: true },
		marks: [
			...series.flatMap(([key, colour]) => [
				Plot.areaY(data, { x: "from_s", y: value(key), fill: colour, fillOpacity: 0.25, curve: "step-after", clip: true }),
				Plot.lineY(data, { x: "from_s", y: value(key), stroke: colour, curve: "step-after", clip: true }),
			]),
			Plot.ruleY([0]),
		],
	}));
}

const AREAS = [
	{ label: "working processes", series: [["working", "currentColor"]], format: count },
	{ label: "read (blue) and written (orange)", series: [["read_bytes", READ], ["written_bytes", WRITTEN]], format: rate },
	{ label: "resident memory", series: [["rss_bytes", "currentColor"]], format: bytes },
];

function legend(rows) {
	const list = document.createElement("ul");
	list.className = "legend";
	const steps = new Set(rows.map((d) => d.step).filter(isColoured));
	for (const step of [...steps, ...(rows.some((d) => !isColoured(d.step)) ? [null] : [])]) {
		const item = document.createElement("li"), swatch = document.createElement("span");
		swatch.className = "swatch";
		swatch.style.background = colourOf(step);
		item.append(swatch, step ?? "other steps");
		list.append(item);
	}
	return list;
}

export function drawTimeline(figure) {
	const rows = table("gantt")?.rows ?? [], time = table("time")?.rows ?? [];
	const end = Math.max(0, ...rows.map((d) => d.to_s), ...time.map((d) => d.from_s)) || 1;
	const step = time.length > 1 ? time[1].from_s - time[0].from_s : end;
	const plots = document.createElement("div");
	let transform = zoomIdentity;

	if (!rows.length)
		return false;
	const tasks = new Set(); // rows are in the order of their begin: the first process of a task bears its name
	for (const row of rows) {
		row.first = row.task !== null && !tasks.has(row.task);
		tasks.add(row.task);
	}
	const draw = () => {
		const width = Math.max(320, figure.clientWidth), inner = width - LEFT - RIGHT;
		const at = (pixel) => Math.max(0, Math.min(end, ((pixel - transform.x) / transform.k / inner) * end));
		const x = [at(0), at(inner)];
		plots.replaceChildren(...[gantt(rows, x, width), ...AREAS.map((a) => area(time, x, width, step, a))].filter(Boolean));
		thinLabels(plots);
		figure.dataset.from = x[0];
		figure.dataset.to = x[1];
	};
	const behaviour = zoom().scaleExtent([1, 2000])
		.extent(() => [[0, 0], [Math.max(1, figure.clientWidth - LEFT - RIGHT), 1]])
		.translateExtent([[0, -Infinity], [Math.max(1, figure.clientWidth - LEFT - RIGHT), Infinity]])
		.filter((event) => !event.button && (event.type !== "wheel" || event.ctrlKey || document.activeElement === figure))
		.on("zoom", (event) => {
			transform = event.transform;
			draw();
		});
	const target = select(figure).call(behaviour).on("dblclick.zoom", null);
	target.on("dblclick", () => target.call(behaviour.transform, zoomIdentity));
	figure.tabIndex = 0;
	figure.setAttribute("role", "group");
	figure.setAttribute("aria-label", "Time line; + and - zoom, the arrows move, 0 shows all");
	figure.addEventListener("keydown", (event) => {
		const act = { "+": () => target.call(behaviour.scaleBy, 1.5), "=": () => target.call(behaviour.scaleBy, 1.5),
			"-": () => target.call(behaviour.scaleBy, 1 / 1.5), 0: () => target.call(behaviour.transform, zoomIdentity),
			ArrowLeft: () => target.call(behaviour.translateBy, 60 / transform.k, 0),
			ArrowRight: () => target.call(behaviour.translateBy, -60 / transform.k, 0) }[event.key];
		if (act) {
			event.preventDefault();
			act();
		}
	});
	const hint = document.createElement("p");
	hint.className = "note hint";
	hint.textContent = "Click, then zoom by the wheel or + and -; drag or the arrows move, 0 or a double click shows all.";
	figure.append(legend(rows), plots, hint);
	draw();
	return draw;
}
