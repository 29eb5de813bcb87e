// SPDX-License-Identifier: MIT
/** The numbers of exhibits, as wfreport has put them into the page: what wfstat --format json prints. */

const tables = new Map();

const text = (id) => document.getElementById(`data-${id}`)?.textContent ?? "null";

/** Numbers of more than 15 digits as strings: a number of JavaScript has not all of theirs. */
const keepDigits = (source) => source.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g,
	(token) => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token));

/** { rows: [{ column: value }], notes: [] }, or null. */
export function table(id) {
	if (!tables.has(id))
		tables.set(id, JSON.parse(text(id)));
	return tables.get(id);
}

/** Its rows with all digits, for programs. */
export const exactRows = (id) => JSON.parse(keepDigits(text(id))).rows;

/** Facts of the nodes of a graph by their ids. */
export const nodes = (id) => Object.fromEntries((table(id)?.rows ?? []).filter((row) => row.element === "node")
	.map(({ id: name, element, ...facts }) => [name, facts]));
