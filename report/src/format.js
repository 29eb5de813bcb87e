// SPDX-License-Identifier: MIT
/** Numbers for people, by the rules of base/units.c. */

function scaled(value, units) {
	let i = 0;
	for (; Math.abs(value) >= 999.95 && i + 1 < units.length; i++)
		value /= 1000;
	return `${i === 0 && Number.isInteger(value) ? value : value.toFixed(Math.abs(value) < 9.995 ? 2 : 1)} ${units[i]}`;
}

export const bytes = (value) => scaled(value, ["B", "kB", "MB", "GB", "TB", "PB"]);
export const rate = (value) => `${bytes(value)}/s`;

export const nanoseconds = (value) => scaled(value, ["ns", "us", "ms", "s"]);
export const seconds = (value) => (value === 0 ? "0 s" : nanoseconds(value * 1e9));
export const percent = (value) => `${(value * 100).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`;
export const count = (value) => scaled(value, ["", "k", "M", "G"]).trim();

/** For the ticks of an axis: without zeros behind the point that say nothing. */
export const tick = (format) => (value) => format(value).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

/** Some n ticks of an axis of seconds, and digits enough to tell them from each other. */
export function timeTicks([from, to], n) {
	const [unit, factor] = [["s", 1], ["ms", 1e3], ["us", 1e6]].find(([, f]) => to * f >= 1) ?? ["ns", 1e9];
	// Steps are 1, 2 or 5 times a power of ten: from 7.07 on, the next one.
	const digits = Math.max(0, -Math.floor(Math.log10(((to - from) * factor * Math.SQRT2) / n)));
	return { ticks: n, tickFormat: (value) => `${value === 0 ? 0 : (value * factor).toFixed(digits)} ${unit}` };
}
