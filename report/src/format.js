// SPDX-License-Identifier: MIT
/** Numbers for people, as base/units.c writes them. */

function three(value) {
	return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function scaled(value, units, factor) {
	let i = 0;
	while (Math.abs(value) >= 999.5 && i + 1 < units.length) {
		value /= factor;
		i++;
	}
	return `${i === 0 && Number.isInteger(value) ? value : three(value)} ${units[i]}`;
}

export const bytes = (value) => scaled(value, ["B", "kB", "MB", "GB", "TB", "PB"], 1000);
export const rate = (value) => `${bytes(value)}/s`;

export function nanoseconds(value) {
	if (value < 999.5e9)
		return scaled(value, ["ns", "\u00b5s", "ms", "s"], 1000);
	return `${Math.round(value / 1e9)} s`;
}

export const seconds = (value) => (value === 0 ? "0 s" : nanoseconds(value * 1e9));
export const percent = (value) => `${(value * 100).toFixed(value < 0.1 ? 1 : 0)} %`;
export const count = (value) => scaled(value, ["", "k", "M", "G"], 1000).trim();
