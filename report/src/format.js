// SPDX-License-Identifier: MIT
/** Readable numbers, as base/units.c and dag/table.c write them: tests/golden/units.tsv holds both to it. */

/** As printf() rounds: what lies in the middle goes to the even digit, where toFixed() takes the larger one. */
function fixed(value, digits) {
	const longer = value.toFixed(digits + 1);
	const middle = Number.isInteger(value * 8) && longer.endsWith("5") && Number(longer) === value;
	return middle && Number(longer.at(-2)) % 2 === 0 ? longer.slice(0, -1) : value.toFixed(digits);
}

function scaled(value, units) {
	let i = 0;
	for (; Math.abs(value) >= 999.95 && i + 1 < units.length; i++)
		value /= 1000;
	return `${i === 0 && Number.isInteger(value) ? value : fixed(value, Math.abs(value) < 9.995 ? 2 : 1)} ${units[i]}`;
}

export const bytes = (value) => scaled(value, ["B", "kB", "MB", "GB", "TB", "PB"]);
export const rate = (value) => `${bytes(value)}/s`;
export const nanoseconds = (value) => scaled(value, ["ns", "us", "ms", "s"]);
/** A moment, since the begin of the run. */
export const seconds = (value) => `${fixed(value, 3)} s`;
export const percent = (value) => `${fixed(value * 100, 1)} %`;
/** For axes alone: elsewhere a count has all its digits. */
export const count = (value) => scaled(value, ["", "k", "M", "G"]).trim();

/** For the ticks of an axis: without zeros behind the point that say nothing. */
export const tick = (format) => (value) => format(value).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

/** At most some n + 1 ticks of an axis of counts from 0 on: whole numbers. */
export function wholeTicks(most, n) {
	const rough = Math.max(1, most / n), power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map((factor) => factor * power).find((s) => s >= rough);
	return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

/** Some n ticks of an axis of seconds, and digits enough to tell them from each other. */
export function timeTicks([from, to], n) {
	const [unit, factor] = [["s", 1], ["ms", 1e3], ["us", 1e6]].find(([, f]) => to * f >= 1) ?? ["ns", 1e9];
	// Steps are 1, 2 or 5 times a power of ten: from 7.07 on, the next one.
	const digits = Math.max(0, -Math.floor(Math.log10(((to - from) * factor * Math.SQRT2) / n)));
	return { ticks: n, tickFormat: (value) => `${value === 0 ? 0 : (value * factor).toFixed(digits)} ${unit}` };
}
