// SPDX-License-Identifier: MIT
/** Tables: sorted by a click on a column, filtered by what is typed, saved as CSV. */
import { exactRows, table } from "./data.js";

/** RFC 4180, with all digits; what is not known is empty. A table without rows has columns nevertheless. */
function csv(columns, rows) {
	const names = rows.length ? [...new Set(rows.flatMap((row) => Object.keys(row)))] : columns;
	const cell = (value) => {
		const text = value === null || value === undefined ? "" : String(value);
		return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
	};
	return [names, ...rows.map((row) => names.map((name) => row[name]))]
		.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

function save(id, columns, rows) {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(new Blob([csv(columns, rows)], { type: "text/csv" }));
	link.download = `${id}.csv`;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function addSave(exhibit) {
	if (!table(exhibit.id))
		return;
	const button = document.createElement("button");
	button.type = "button";
	button.className = "save";
	button.textContent = "CSV";
	button.setAttribute("aria-label", `Save ${exhibit.id} as CSV`);
	const columns = exhibit.querySelector(".rows table")?.dataset.columns.split(",") ?? [];
	button.addEventListener("click", () => save(exhibit.id, columns, exactRows(exhibit.id)));
	(exhibit.querySelector("h3") ?? exhibit).append(button);
}

const compare = (a, b) => {
	if (a === b)
		return 0;
	if (a === null || a === undefined)
		return 1;
	if (b === null || b === undefined)
		return -1;
	return typeof a === "string" || typeof b === "string" ? -String(a).localeCompare(String(b)) : a - b;
};

function makeSortable(element, rows) {
	const body = element.tBodies[0];
	const pairs = [...body.rows].map((tr, i) => ({ tr, cells: Object.values(rows[i] ?? {}) }))
		.filter(({ tr }) => !tr.classList.contains("total"));
	const total = body.querySelector("tr.total");
	[...element.tHead.rows[0].cells].forEach((head, column) => {
		const sort = () => {
			const down = head.getAttribute("aria-sort") !== "descending";
			for (const other of element.tHead.rows[0].cells)
				other.removeAttribute("aria-sort");
			head.setAttribute("aria-sort", down ? "descending" : "ascending");
			const known = (p) => p.cells[column] !== null && p.cells[column] !== undefined;
			pairs.sort((x, y) => known(y) - known(x) ||
				(down ? -1 : 1) * compare(x.cells[column], y.cells[column]));
			body.append(...pairs.map((p) => p.tr), ...(total ? [total] : []));
		};
		head.tabIndex = 0;
		head.addEventListener("click", sort);
		head.addEventListener("keydown", (event) => {
			if (event.key === "Enter" || event.key === " ") {
				event.preventDefault();
				sort();
			}
		});
	});
}

function makeFilterable(details, element) {
	const input = document.createElement("input");
	input.type = "search";
	input.className = "filter";
	input.placeholder = "Filter rows";
	input.setAttribute("aria-label", "Filter rows");
	input.addEventListener("input", () => {
		const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
		for (const tr of element.tBodies[0].rows) {
			const text = tr.textContent.toLowerCase();
			tr.hidden = !words.every((word) => text.includes(word));
		}
	});
	details.querySelector("summary").after(input);
}

export function addTables() {
	for (const exhibit of document.querySelectorAll(".exhibit")) {
		const element = exhibit.querySelector(".rows table");
		const rows = table(exhibit.id)?.rows ?? [];
		addSave(exhibit);
		if (!element || rows.length < 2)
			continue;
		makeSortable(element, rows);
		if (rows.length > 8)
			makeFilterable(exhibit.querySelector(".rows"), element);
	}
}
