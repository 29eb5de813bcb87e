// SPDX-License-Identifier: MIT
/** Labels of scales that can be read: of those that stand too close, every other one goes, and names that are wider than the room
 * beside their scale lose their begin. */

const GAP = 3; // pixels

function thin(group) {
	let last = null;
	for (const text of group.querySelectorAll("text")) {
		if (!text.textContent) // a tick without a label, as most of a logarithmic scale
			continue;
		const box = text.getBoundingClientRect();
		const close = last && box.left < last.right + GAP && box.right > last.left - GAP && box.top < last.bottom && box.bottom > last.top;
		if (close)
			text.remove();
		else
			last = box;
	}
}

/** After it is in the page: only there labels have a size. */
export function thinLabels(root) {
	for (const group of root.querySelectorAll('g[aria-label$="tick label"], g:has(> .tick)'))
		thin(group);
}

function cut(text, left) {
	let rest = text.textContent.replace(/^\u2026/, "");
	for (let box = text.getBoundingClientRect(); box.left < left && rest.length > 1; box = text.getBoundingClientRect()) {
		const few = Math.ceil((rest.length * (left - box.left)) / box.width);
		rest = [...rest].slice(Math.min(few, rest.length - 1)).join("");
		text.textContent = `\u2026${rest}`;
	}
}

/** As thinLabels(). */
export function fitLabels(figure) {
	const { left } = figure.getBoundingClientRect();
	for (const text of figure.querySelectorAll('g[aria-label*="y-axis tick label"] text'))
		cut(text, left);
}
