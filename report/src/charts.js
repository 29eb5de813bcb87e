// SPDX-License-Identifier: MIT
/** The charts, each from the rows of its table. A chart is a function of rows, width and id; null: there is
 * nothing to draw. */
import * as Plot from "@observablehq/plot";
import { table } from "./data.js";
import { bytes, count, nanoseconds, percent, rate, seconds, tick, timeTicks, wholeTicks } from "./format.js";

const READ = "#0072b2", WRITTEN = "#e69f00";

/** A step has the same colour everywhere: that of the graphs, which are drawn already. */
const colours = new Map((table("step-colours")?.rows ?? []).map(({ step, colour }) => [step, colour]));
export const isColoured = (step) => colours.has(step);
export const colourOf = (step) => colours.get(step) ?? "#999999";
/** Black or white, whatever is easier to read on the colour (WCAG's relative luminance). */
export function textOn(step) {
	const [r, g, b] = colourOf(step).match(/[\da-f]{2}/gi).map((hex) => (parseInt(hex, 16) / 255) ** 2.2);
	return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.2 ? "#000" : "#fff";
}

const base = (width, more) => ({
	width, className: "plot", marginLeft: 70, marginRight: 24, style: { background: "transparent" }, ...more,
});
const short = (text, n) => (text && text.length > n ? `\u2026${text.slice(1 - n)}` : text ?? "-");
const sum = (rows, key) => rows.reduce((all, row) => all + (row[key] ?? 0), 0);

/** The label of an axis stands below its ticks. */
const BELOW = { labelOffset: 38 }, ROOM = { marginBottom: 44 };

/** An axis for values that differ by more than a factor of a hundred is logarithmic. */
function axis(values, label, format) {
	const positive = values.filter((v) => v > 0);
	const log = positive.length > 0 && Math.max(...positive) / Math.min(...positive) > 100;
	return { label, type: log ? "log" : "linear", tickFormat: tick(format), grid: true, ticks: 4, ...BELOW,
		...(log ? { domain: [Math.min(...positive) / 2, Math.max(...positive) * 1.05], clamp: true } : { zero: true }) };
}

// ---- steps ----

const MEASURES = [["run time", "Run time", nanoseconds], ["utilization", "Use of the processor", percent],
	["memory", "Peak resident memory", bytes], ["read", "Bytes read by a process", bytes],
	["written", "Bytes written by a process", bytes]];

function boxesOf(rows, label, format, width) {
	const most = rows.length;
	const name = (d) => short(d.step ?? "(no step)", 22);
	const values = rows.flatMap((d) => [d.min, d.max]);
	const x = axis(values, label, format);
	// A logarithmic axis has no zero: what is there is not drawn, and a 0 at the begin says so.
	const log = x.type === "log", from = (v) => (log ? Math.max(v, x.domain[0]) : v);
	const above = (key) => rows.filter((d) => !log || d[key] > 0);
	return Plot.plot(base(width, {
		height: 64 + 22 * most, ...ROOM, marginLeft: 150, x,
		y: { label: null, domain: rows.map(name), axis: null },
		marks: [
			Plot.axisY({ label: null, tickSize: 0 }),
			Plot.ruleY(above("p95"), { y: name, x1: (d) => from(d.min), x2: (d) => from(d.p95), stroke: "currentColor", strokeOpacity: 0.6 }),
			Plot.barX(above("p75"), { y: name, x1: (d) => from(d.p25), x2: (d) => from(d.p75), fill: (d) => colourOf(d.step), inset: 1,
				fillOpacity: 0.75 }),
			Plot.tickX(above("p50"), { y: name, x: "p50", stroke: "currentColor", strokeWidth: 2 }),
			Plot.text(rows.filter((d) => log && !(d.min > 0)), { y: name, frameAnchor: "left", dx: 3, textAnchor: "start", text: () => "0",
				fill: "currentColor", stroke: "var(--card)", strokeWidth: 3 }),
			Plot.dot(above("max"), { y: name, x: "max", r: 2.5, fill: "currentColor",
				title: (d) => `${d.step ?? "(no step)"}: ${d.count} processes\nsmallest ${format(d.min)}, p25 ${format(d.p25)}, ` +
					`median ${format(d.p50)}, p75 ${format(d.p75)}\np95 ${format(d.p95)}, largest ${format(d.max)}` }),
		],
	}));
}

function boxes(rows, width) {
	const half = width > 900 ? Math.floor(width / 2) - 8 : width;
	const box = document.createElement("div");
	box.className = "several";
	for (const [of, label, format] of MEASURES) {
		const some = rows.filter((d) => d.of === of).slice(0, 30);
		if (some.length)
			box.append(boxesOf(some, label, format, half));
	}
	return box.children.length ? box : null;
}

function heat(rows, width) {
	if (!rows.length)
		return null;
	const names = [...new Set(rows.map((d) => d.step ?? "(no step)"))];
	const dark = matchMedia("(prefers-color-scheme: dark)").matches;
	const total = (d) => d.read_bytes + d.written_bytes;
	const extent = [Math.min(...rows.map((d) => d.from_s)), Math.max(...rows.map((d) => d.to_s))];
	return Plot.plot(base(width, {
		height: 74 + 20 * names.length, ...ROOM, marginLeft: 150, x: { label: "time of the run", ...BELOW, ...timeTicks(extent, 8) },
		y: { label: null, domain: names, tickFormat: (d) => short(d, 22) },
		color: { legend: true, marginLeft: 14, label: "bytes", tickFormat: tick(bytes), type: "log", domain: [Math.max(1, Math.min(...rows.map(total).filter((v) => v > 0))),
			Math.max(2, ...rows.map(total))], range: dark ? ["#1d3549", "#ffe9a8"] : ["#d9e8f2", "#08306b"],
		interpolate: "rgb", clamp: true },
		marks: [Plot.rect(rows, { x1: "from_s", x2: "to_s", y: (d) => d.step ?? "(no step)", fill: total, inset: 0.3,
			title: (d) => `${d.step ?? "(no step)"}, ${seconds(d.from_s)} to ${seconds(d.to_s)}\nread ${bytes(d.read_bytes)}, ` +
				`written ${bytes(d.written_bytes)}` })],
	}));
}

// ---- reads and writes ----

const CLASSES = ["0-100", "101-1K", "1K-10K", "10K-100K", "100K-1M", "1M-4M", "4M-10M", "10M-100M", "100M-1G", "1G+"];

function grouped(data, x, width, more) {
	return Plot.plot(base(width, {
		height: 280, marginBottom: 46, fx: { domain: x, label: more.label, labelOffset: 42, padding: 0.15 }, x: { axis: null, domain: ["read", "write"] },
		y: { label: more.unit, grid: true, tickFormat: tick(more.format),
			...(more.format === count ? { ticks: wholeTicks(Math.max(...data.map((d) => d.value)), 5) } : {}) },
		color: { domain: ["read", "write"], range: [READ, WRITTEN] },
		marks: [
			Plot.barY(data, { fx: "class", x: "operation", y: "value", fill: "operation",
				title: (d) => `${d.operation}, ${d.class}: ${more.exact(d.value)}` }),
			Plot.ruleY([0]),
		],
	}));
}

const readsAndWrites = (rows) => rows.filter((d) => d.operation === "read" || d.operation === "write");

function sizes(rows, width) {
	const data = readsAndWrites(rows).flatMap((row) => CLASSES.filter((c) => c in row)
		.map((c) => ({ operation: row.operation, class: c, value: row[c] ?? 0 })));
	return data.length ? grouped(data, CLASSES, width, { label: "bytes of a request (classes of Darshan)",
		unit: "requests", format: count, exact: String }) : null;
}

function order(rows, width) {
	const traits = ["consecutive", "sequential", "strided", "random", "aligned"];
	const data = readsAndWrites(rows).flatMap((row) => traits.filter((t) => row[`${t}_share`] !== null && `${t}_share` in row)
		.map((t) => ({ operation: row.operation, class: t, value: row[`${t}_share`] })));
	return data.length ? grouped(data, traits, width, { label: "order of accesses", unit: "part of all requests", format: percent, exact: percent }) : null;
}

/** Bars by powers of two, and the part of all that is no larger. */
function histogram(rows, width, id) {
	if (!rows.length)
		return null;
	const format = id === "latency" ? nanoseconds : bytes;
	const data = rows.map((d) => ({ ...d, low: Math.max(d.from, d.to / 2) }));
	const most = Math.max(...data.map((d) => d.count));
	const x = { type: "log", base: 2, label: `${id === "latency" ? "latency" : "size"}, counted by powers of two`, tickFormat: tick(format), ticks: 8, ...BELOW,
		domain: [data[0].low, data[data.length - 1].to] };
	return Plot.plot(base(width, {
		height: 276, ...ROOM, x, y: { label: "operations", grid: true, domain: [0, most], ticks: wholeTicks(most, 5) }, marginRight: 60,
		marks: [
			Plot.rectY(data, { x1: "low", x2: "to", y: "count", fill: READ, inset: 0.5,
				title: (d) => `${format(d.from)} to ${format(d.to)}: ${d.count}\nno larger: ${percent(d.cumulative_share)}` }),
			Plot.line(data, { x: "to", y: (d) => d.cumulative_share * most, stroke: WRITTEN, strokeWidth: 2, marker: "dot" }),
			Plot.axisY({ anchor: "left", label: "operations", tickFormat: tick(count), ticks: wholeTicks(most, 5) }),
			Plot.axisY([0, 0.25, 0.5, 0.75, 1].map((share) => share * most), { anchor: "right",
				label: "part of all that is no larger", tickFormat: (v) => tick(percent)(v / most), color: WRITTEN }),
			Plot.ruleY([0]),
		],
	}));
}

function bars(rows, width, { name, values, format, label }) {
	const data = rows.filter((d) => d[name] !== null).slice(0, 20);
	if (!data.length)
		return null;
	const key = (d) => d[name];
	const long = data.flatMap((d) => values.map(([column, what]) => ({ name: key(d), what, value: d[column] ?? 0 })));
	return Plot.plot(base(width, {
		height: 74 + 22 * data.length, ...ROOM, marginLeft: Math.min(280, width / 2.5),
		x: { label, grid: true, tickFormat: tick(format), ticks: 5, ...BELOW },
		y: { label: null, domain: data.map(key), tickFormat: (d) => short(d, Math.floor(Math.min(280, width / 2.5) / 6.6)) },
		color: { domain: values.map((v) => v[1]), range: [READ, WRITTEN] },
		marks: [
			Plot.barX(long, { y: "name", x: "value", fill: "what", inset: 1,
				title: (d) => `${d.name}\n${d.what}: ${format(d.value)}` }),
			Plot.ruleX([0]),
		],
	}));
}

const operations = (rows, width) => bars(rows.filter((d) => d.operation !== "Total"), width, { name: "operation",
	values: [["sum_ns", "time in all"]], format: nanoseconds, label: "time in the calls, all together" });
const directories = (rows, width) => bars(rows, width, { name: "directory", values: [["read_bytes", "read"],
	["written_bytes", "written"]], format: bytes, label: "bytes" });
const filesRead = (rows, width) => bars(rows, width, { name: "path", values: [["read_bytes", "read"]], format: bytes, label: "bytes read" });
const filesWritten = (rows, width) => bars(rows, width, { name: "path", values: [["written_bytes", "written"]], format: bytes,
	label: "bytes written" });

// ---- two runs ----

const SIDES = ["A", "B"], COLOURS = { domain: SIDES, range: [READ, WRITTEN] };
const margin = (width) => Math.min(180, Math.floor(width / 2.8));

/** The time of each step in both runs, one bar below the other. */
function sides(rows, width) {
	const some = rows.filter((d) => d.A_time_ns > 0 || d.B_time_ns > 0).slice(0, 20), left = margin(width);
	const long = some.flatMap((d) => SIDES.map((side) => ({ step: d.step, side, value: d[`${side}_time_ns`] ?? 0 })));
	if (!long.length)
		return null;
	return Plot.plot(base(width, {
		height: 74 + 34 * some.length, ...ROOM, marginLeft: left,
		x: { label: "time of the step", grid: true, tickFormat: tick(nanoseconds), ticks: width > 600 ? 6 : 3, ...BELOW },
		y: { domain: SIDES, axis: null, padding: 0.1 },
		fy: { domain: some.map((d) => d.step), axis: "left", label: null, padding: 0.25, tickFormat: (d) => short(d, Math.floor(left / 7)) },
		color: COLOURS,
		marks: [Plot.barX(long, { fy: "step", y: "side", x: "value", fill: "side", title: (d) => `${d.step}, ${d.side}: ${nanoseconds(d.value)}` }),
			Plot.ruleX([0])],
	}));
}

/** The processes of each step over time, one run above the other. */
function lines(rows, width) {
	const lived = new Map();
	for (const d of rows)
		lived.set(d.step, (lived.get(d.step) ?? 0) + d.lived_s);
	const steps = [...lived.keys()].sort((a, b) => lived.get(b) - lived.get(a)).slice(0, 15), left = margin(width);
	const some = rows.filter((d) => steps.includes(d.step)), first = new Map();
	for (const d of some)
		first.set(d.step, Math.min(first.get(d.step) ?? Infinity, d.begin_s));
	steps.sort((a, b) => first.get(a) - first.get(b));
	if (!some.length)
		return null;
	return Plot.plot(base(width, {
		height: 74 + 2 * (20 * steps.length + 20), ...ROOM, marginLeft: left, marginRight: 30,
		x: { label: "time since the run began", domain: [0, Math.max(...some.map((d) => d.end_s))], ...BELOW, ...timeTicks([0, Math.max(...some.map((d) => d.end_s))], width > 600 ? 8 : 3) },
		y: { domain: steps, label: null, tickFormat: (d) => short(d, Math.floor(left / 7)), tickSize: 0 },
		fy: { domain: SIDES, axis: "right", label: null, padding: 0.12 }, color: COLOURS,
		marks: [Plot.frame({ stroke: "currentColor", strokeOpacity: 0.2 }),
			Plot.barX(some, { fy: "run", y: "step", x1: "begin_s", x2: "end_s", fill: "run", fillOpacity: 0.6, stroke: "run", inset: 2,
				title: (d) => `${d.run}: ${d.process}\n${seconds(d.begin_s)} to ${seconds(d.end_s)}` })],
	}));
}

export const charts = { sides, lines, boxes, heat, sizes, order, histogram, operations, directories, "files-read": filesRead,
	"files-written": filesWritten };
export const legends = {
	sides: [["A, before", READ], ["B, after", WRITTEN]], lines: [["A, before", READ], ["B, after", WRITTEN]],
	sizes: [["read", READ], ["write", WRITTEN]], order: [["read", READ], ["write", WRITTEN]],
	histogram: [["operations", READ], ["part of all that is no larger", WRITTEN]],
	directories: [["read", READ], ["written", WRITTEN]],
};
export { READ, WRITTEN, base, rate, sum };
