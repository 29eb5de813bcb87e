// SPDX-License-Identifier: MIT
//
// diff.mjs PAGE WORDS...: opens a page of wfreport --diff in Chromium: it has these words, its charts are drawn, no text lies on another
// one.  Prints a line for each fact that is not so, and in the end how many were looked at; status 1 if any, or none.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { eachOverlap } from "./overlaps.mjs";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync"];
let looked = 0, failed = 0;

function check(fact, holds, detail = "") {
	looked++;
	if (!holds) {
		failed++;
		console.log(`NOT SO: ${fact} ${detail}`);
	}
}

async function look(browser, [file, ...words]) {
	const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
	const said = [], asked = [], url = pathToFileURL(file).href;
	page.on("console", (message) => said.push(message.text()));
	page.on("pageerror", (error) => said.push(error.message));
	page.on("request", (request) => request.url().split("#")[0] !== url && asked.push(request.url()));
	await page.goto(url);
	check("its script has run", (await page.getAttribute("html", "data-ready")) === "yes");
	const text = await page.textContent("body");
	for (const word of words)
		check(`it says: ${word}`, text.includes(word), text.slice(0, 1000));
	const charts = await page.$$eval("figure.chart", (all) => all.map((figure) => [figure.dataset.chart, figure.dataset.drawn,
		figure.querySelectorAll('g[aria-label="bar"] rect').length]));
	check("both charts have bars of both runs", charts.length === 2 && charts.every(([, drawn, bars]) => drawn === "yes" && bars > 1),
		JSON.stringify(charts));
	check("each exhibit has a table", await page.$$eval(".exhibit", (all) => all.length >= 5 && all.every((e) => e.querySelector(".rows table"))));
	await eachOverlap(page, (what, { found, texts }) => {
		check(`${what}: there are texts`, texts > 20, texts);
		check(`${what}: no text lies on another one`, found.length === 0, found.slice(0, 5).join("; "));
	});
	for (const width of [360, 800, 1400]) {
		await page.emulateMedia({ media: "screen" });
		await page.setViewportSize({ width, height: 900 });
		check(`${width} px: nothing is beyond the right edge`, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
	}
	check("the console is silent", said.length === 0, said.join("; "));
	check("nothing is asked of the network", asked.length === 0, asked.join(" "));
}

const user = mkdtempSync(join(tmpdir(), "ftrac-chromium-"));
process.env.HOME = user;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
try {
	await look(browser, process.argv.slice(2));
} finally {
	await browser.close();
	rmSync(user, { recursive: true, force: true });
}
console.log(`${looked} facts looked at in the page of two runs, ${failed} not so`);
process.exit(failed || !looked ? 1 : 0);
