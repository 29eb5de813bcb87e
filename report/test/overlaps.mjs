// SPDX-License-Identifier: MIT
/** Texts of a page that lie on each other, and texts of charts that are cut off. */

const WIDTHS = [360, 800, 1400];

/** In the page: pairs of texts whose boxes intersect, texts of charts that are cut off, and how many texts
 * there are.  Graphviz places those of graphs. */
function findOverlaps() {
	/** What of a box is not cut off by what scrolls, or has a window. */
	const clip = (box, element) => {
		let { left: x0, right: x1, top: y0, bottom: y1 } = box;
		for (let e = element; e; e = e.parentElement) {
			if (getComputedStyle(e).overflow === "visible" || e === document.body || e === document.documentElement)
				continue;
			const window_ = e.getBoundingClientRect();
			[x0, x1, y0, y1] = [Math.max(x0, window_.left), Math.min(x1, window_.right), Math.max(y0, window_.top), Math.min(y1, window_.bottom)];
		}
		return { x0, x1, y0, y1 };
	};
	const boxes = [], cut = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		const parent = node.parentElement;
		if (!node.data.trim() || parent.closest("script, style, title, .graph, noscript") ||
			!parent.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }))
			continue;
		const range = document.createRange();
		range.selectNodeContents(node);
		for (const rect of range.getClientRects()) {
			const box = clip(rect, parent);
			if (parent.closest(".plot") && rect.width - (box.x1 - box.x0) > 1 && !parent.closest("[clip-path]"))
				cut.push(`${parent.closest(".exhibit")?.id}: '${node.data.trim().slice(0, 40)}'`);
			if (box.x1 - box.x0 > 1 && box.y1 - box.y0 > 1)
				boxes.push({ ...box, text: node.data.trim().slice(0, 40), node, id: parent.closest(".exhibit")?.id });
		}
	}
	boxes.sort((a, b) => a.y0 - b.y0);
	const found = [];
	boxes.forEach((a, i) => {
		for (let k = i + 1; k < boxes.length && boxes[k].y0 < a.y1 - 2; k++) {
			const b = boxes[k], wide = Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0), high = Math.min(a.y1, b.y1) - b.y0;
			// The box of a line is higher than its letters.
			if (b.node !== a.node && wide > 1 && high > 0.35 * Math.min(a.y1 - a.y0, b.y1 - b.y0))
				found.push(`${a.id ?? "page"}: '${a.text}' on '${b.text}'`);
		}
	});
	return { found, cut, texts: boxes.length };
}

/** look(what, { found, cut, texts }) for each width, light and dark, and for paper. */
export async function eachOverlap(page, look) {
	for (const width of WIDTHS)
		for (const colorScheme of ["light", "dark"]) {
			await page.emulateMedia({ media: "screen", colorScheme });
			await page.setViewportSize({ width, height: 900 });
			await page.waitForTimeout(200);
			look(`${width} px, ${colorScheme}`, await page.evaluate(findOverlaps));
		}
	await page.emulateMedia({ media: "print" });
	await page.setViewportSize({ width: 718, height: 1000 }); // A4
	await page.waitForTimeout(200);
	look("paper", await page.evaluate(findOverlaps));
}
