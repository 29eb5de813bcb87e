// SPDX-License-Identifier: MIT
/** Labels of scales that do not overlap: of those that stand too close, every other one goes. */

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
