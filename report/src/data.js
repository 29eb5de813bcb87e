// SPDX-License-Identifier: MIT
/** The numbers of exhibits, as wfreport has put them into the page: what wfstat --format json prints. */

const tables = new Map();

const json = (id) => {
	const element = document.getElementById(id);
	return element ? JSON.parse(element.textContent) : null;
};

/** { rows: [{ column: value }], notes: [] }, or null. */
export function table(id) {
	if (!tables.has(id))
		tables.set(id, json(`data-${id}`));
	return tables.get(id);
}

/** Facts of the nodes of a graph by their ids. */
export const nodes = (id) => Object.fromEntries((table(id)?.rows ?? []).filter((row) => row.element === "node")
	.map(({ id: name, element, ...facts }) => [name, facts]));
