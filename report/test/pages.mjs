// SPDX-License-Identifier: MIT
//
// pages.mjs LIST.json: opens reports in Chromium and looks whether they are what they should be. LIST.json is
// [{ name, page, tables: { ID: rows that wfstat --format json prints, less: [columns] }, charts, graph, hostile }].
// Prints a line for each fact that is not so, and in the end how many were looked at; status 1 if any, or none.
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync"];
// Marks of a chart: what is drawn beside axes and grid.
const MARKS = "g[aria-label] :is(rect, path, circle, line, use)";
let looked = 0, failed = 0, where = "";

function check(fact, holds, detail = "") {
	looked++;
	if (!holds) {
		failed++;
		console.log(`NOT SO: ${where}: ${fact} ${detail}`);
	}
}

const equal = (fact, got, wanted) => check(fact, JSON.stringify(got) === JSON.stringify(wanted),
	`\n  got    ${JSON.stringify(got)?.slice(0, 400)}\n  wanted ${JSON.stringify(wanted)?.slice(0, 400)}`);

/** A page that must neither complain nor ask for anything. */
async function open(browser, file, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
	const page = await context.newPage();
	page.setDefaultTimeout(10000);
	const url = pathToFileURL(file).href;
	page.said = [];
	page.asked = [];
	page.on("console", (message) => page.said.push(message.text()));
	page.on("pageerror", (error) => page.said.push(error.message));
	page.on("dialog", (dialog) => {
		page.said.push(`dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	page.on("request", (request) => request.url().split("#")[0] !== url && !request.url().startsWith("blob:") &&
		page.asked.push(request.url()));
	await page.goto(url);
	return page;
}

async function close(page) {
	equal("the console is silent", page.said, []);
	equal("nothing is asked of the network", page.asked, []);
	await page.context().close();
}

// ---- what is looked at ----

async function checkCharts(page, wanted) {
	const charts = await page.$$eval("figure.chart", (figures, marks) => figures.map((figure) => ({
		name: `${figure.dataset.chart} ${figure.dataset.table}`, drawn: figure.dataset.drawn,
		marks: figure.querySelectorAll(marks).length, axes: figure.querySelectorAll('g[aria-label$="tick label"]').length,
		rows: JSON.parse(document.getElementById(`data-${figure.dataset.table}`).textContent).rows.length,
	})), MARKS);
	check("there are charts", charts.length >= 12, charts.length);
	for (const { name, drawn, marks, rows, axes } of charts)
		if (wanted)
			check(`${name} has marks and axes`, drawn === "yes" && marks > 0 && axes > 0, `${drawn}, ${marks} marks, ${axes} axes`);
		else
			check(`${name} is drawn or says why not`, drawn === "nothing" || (rows > 0 && marks > 0), `${drawn}, ${marks} of ${rows}`);
}

async function checkAxes(page) {
	for (const id of ["latency", "read-size"]) {
		const axes = await page.$$eval(`figure[data-table="${id}"] g[aria-label="y-axis tick label"]`, (all) =>
			all.map((axis) => [...axis.querySelectorAll("text")].map((text) => text.textContent)));
		check(`${id} has an axis of counts and one of shares`, axes.length === 2 && axes[0].length > 1, JSON.stringify(axes));
		equal(`shares of ${id} are round`, axes[1], ["0 %", "25 %", "50 %", "75 %", "100 %"]);
	}
}

async function checkTables(page, tables) {
	for (const [id, { rows, less }] of Object.entries(tables)) {
		const got = await page.$eval(`#data-${id}`, (element) => JSON.parse(element.textContent).rows);
		const without = (all) => all.map((row) => Object.fromEntries(Object.entries(row).filter(([key]) => !less.includes(key))));
		equal(`${id} has the rows of wfstat`, without(got), without(rows));
		const shown = await page.$$eval(`#${id} .rows tbody tr`, (list) => list.length);
		if (id !== "overview")
			equal(`${id} shows all of them`, shown, rows.length);
	}
}

/** Moments in nanoseconds have more digits than a number of JavaScript. */
async function checkDigits(page) {
	const source = await page.$eval("#data-critical-path", (element) => element.textContent);
	const moments = source.slice(source.indexOf('"rows"')).match(/(?<=[:\s,])\d{16,}(?=[,}\s])/g) ?? [];
	const download = page.waitForEvent("download");
	await page.click("#critical-path button.save");
	const text = readFileSync(await (await download).path(), "utf8");
	equal("the CSV has all digits", moments.filter((moment) => !text.includes(moment)), []);
	check("of some moments", moments.length > 0, source.slice(0, 200));
}

async function checkExhibits(page) {
	const without = await page.$$eval(".exhibit", (all) => all.filter((e) =>
		!e.querySelector("details.sql pre")?.textContent.includes("SELECT") || !e.querySelector("button.save")).map((e) => e.id));
	equal("each exhibit has its SQL and a CSV", without, []);
	const download = page.waitForEvent("download");
	await page.click("#gantt button.save");
	const text = readFileSync(await (await download).path(), "utf8");
	const rows = await page.$eval("#data-gantt", (element) => JSON.parse(element.textContent).rows.length);
	check("the CSV has a row for each of the table", text.split("\r\n").length >= rows + 2, text.slice(0, 200));
	check("the licences are there", await page.$$eval("details.licences details", (all) => all.length) > 5);
}

async function checkFilter(page) {
	await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
	const rows = page.locator("#gantt .rows tbody tr");
	const all = await rows.count(), word = await rows.first().locator("td").nth(2).textContent();
	if (all <= 8)
		return; // there is none for so few
	await page.fill("#gantt input.filter", word);
	const some = await page.locator("#gantt .rows tbody tr:not([hidden])").count();
	check("the filter leaves some rows", some > 0 && some <= all, `${some} of ${all}`);
	await page.fill("#gantt input.filter", "there is no such word");
	equal("the filter leaves none", await page.locator("#gantt .rows tbody tr:not([hidden])").count(), 0);
	await page.fill("#gantt input.filter", "");
	await page.click("#gantt th:nth-child(6)");
	const begins = await page.$$eval("#gantt .rows tbody tr", (list) => list.map((tr) => parseFloat(tr.cells[5].textContent)));
	check("rows are sorted by a click", begins.every((b, i) => i === 0 || b <= begins[i - 1]), begins.slice(0, 5));
}

async function checkTimeline(page) {
	const figure = page.locator('figure[data-chart="timeline"]');
	const span = async () => (await figure.getAttribute("data-to")) - (await figure.getAttribute("data-from"));
	const before = await span();
	await figure.focus();
	await page.keyboard.press("+");
	await page.keyboard.press("+");
	const after = await span();
	check("the time line zooms", after < before / 2 && after > 0, `${before} ${after}`);
	for (let i = 0; i < 8; i++)
		await page.keyboard.press("+");
	const ticks = await figure.locator("svg").first().locator('g[aria-label="x-axis tick label"] text').allTextContents();
	check("no two ticks of it are the same", ticks.length > 1 && new Set(ticks).size === ticks.length, ticks);
	await page.keyboard.press("0");
	check("and shows all again", Math.abs((await span()) - before) < before / 1000);
}

async function checkGraph(page) {
	const box = page.locator("#dag-picture"), node = box.locator("g.node[tabindex]").first();
	const transform = () => box.locator("g.graph").getAttribute("transform");
	const before = await transform();
	check("nodes can be reached", (await box.locator("g.node[tabindex]").count()) > 0);
	await node.focus();
	await page.keyboard.press("Enter");
	check("Enter shows the facts of a node", await page.locator("#facts").isVisible());
	equal("of this node", await page.getAttribute("#facts", "data-node"), await node.getAttribute("id"));
	check("there are facts", (await page.locator("#facts dd").count()) > 2);
	await page.click("#facts-close");
	check("they can be closed", !(await page.locator("#facts").isVisible()));
	const last = box.locator("g.node[tabindex]").last();
	await last.dispatchEvent("click");
	equal("a click shows them, too", await page.getAttribute("#facts", "data-node"), await last.getAttribute("id"));
	await page.keyboard.press("Escape");
	await box.focus();
	await page.keyboard.press("+");
	const zoomed = await transform();
	check("the graph zooms", zoomed !== before, zoomed);
	await page.keyboard.press("ArrowRight");
	check("the graph moves", (await transform()) !== zoomed);
}

/** Names that would be markup, or would turn the text around them. */
async function checkHostile(page, names) {
	const text = await page.evaluate(() => document.body.textContent);
	for (const name of names)
		check(`${JSON.stringify(name)} stands in the page as it is`, text.includes(name));
	equal("no element came from a name", await page.$$eval("body b, body img, body script:not([type]):not(:last-of-type)",
		(all) => all.map((e) => e.outerHTML.slice(0, 80))), []);
}

async function checkPrint(page) {
	await page.emulateMedia({ media: "print" });
	await page.setViewportSize({ width: 718, height: 1000 }); // A4
	const wide = await page.evaluate(() => {
		document.querySelectorAll("details").forEach((d) => (d.open = true));
		return [...document.querySelectorAll("table")].filter((t) => t.getBoundingClientRect().right > innerWidth + 1)
			.map((t) => `${t.closest(".exhibit")?.id} ${t.getBoundingClientRect().right}`);
	});
	equal("no table is wider than the paper", wide, []);
	const pdf = await page.pdf({ format: "A4" });
	check("it can be printed", pdf.subarray(0, 5).toString() === "%PDF-" && pdf.length > 20000, pdf.length);
}

async function checkWithoutScript(browser, entry) {
	const page = await open(browser, entry.page, { javaScriptEnabled: false });
	check("tables are there without JavaScript", (await page.locator("table").count()) > 8);
	if (entry.graph)
		check("and the graph", (await page.locator("#dag-picture svg g.node").count()) > 0);
	check("and what is missing is said", (await page.locator("noscript .note").count()) === 1);
	await close(page);
}

async function checkPage(browser, entry) {
	where = entry.name;
	const page = await open(browser, entry.page);
	check("its script has run", (await page.getAttribute("html", "data-ready")) === "yes");
	check("it is at most 5 MB", statSync(entry.page).size < 5e6, statSync(entry.page).size);
	await checkCharts(page, entry.charts);
	if (entry.charts)
		await checkAxes(page);
	await checkTables(page, entry.tables);
	for (const words of entry.warnings ?? [])
		check(`it warns: ${words}`, (await page.textContent(".warnings")).includes(words));
	for (const words of entry.says ?? [])
		check(`it says: ${words}`, (await page.textContent("body")).includes(words));
	if (entry.hostile)
		await checkHostile(page, entry.hostile);
	if (entry.graph) {
		await checkExhibits(page);
		await checkDigits(page);
		await checkTimeline(page);
		await checkGraph(page);
		await checkFilter(page);
	}
	await checkPrint(page);
	await close(page);
	if (entry.graph) {
		const dark = await open(browser, entry.page, { colorScheme: "dark" });
		const back = await dark.evaluate(() => getComputedStyle(document.body).backgroundColor);
		check("it is dark where that is wished", back === "rgb(21, 24, 27)", back);
		await close(dark);
	}
	await checkWithoutScript(browser, entry);
}

const user = mkdtempSync(join(tmpdir(), "ftrac-chromium-"));
process.env.HOME = user;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
try {
	for (const entry of JSON.parse(readFileSync(process.argv[2], "utf8")))
		await checkPage(browser, entry);
} finally {
	await browser.close();
	rmSync(user, { recursive: true, force: true });
}
console.log(`${looked} facts looked at in the pages, ${failed} not so`);
process.exit(failed || !looked ? 1 : 0);
