// SPDX-License-Identifier: MIT
//
// pages.mjs LIST.json: opens reports in Chromium and looks whether they are what they should be. LIST.json is
// [{ name, page, tables: { ID: { rows that wfstat --format json prints, csv, less: [columns] } }, charts, graph, hostile }].
// Prints a line for each fact that is not so, and in the end how many were looked at; status 1 if any, or none.
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { bytes, nanoseconds, percent, rate, seconds } from "../src/format.js";
import { eachOverlap } from "./overlaps.mjs";

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

/** RFC 4180. */
function parseCsv(text) {
	const rows = [[]];
	for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
		rows.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
		if (end === "")
			break;
		if (end !== ",")
			rows.push([]);
	}
	return rows.slice(0, -1);
}

async function save(page, id) {
	const download = page.waitForEvent("download");
	await page.click(`#${id} button.save`);
	return readFileSync(await (await download).path(), "utf8");
}

/** The same without a download, of which Chromium allows ten in a second. */
const saved = (page, id) => page.evaluate(async (exhibit) => {
	const { createObjectURL } = URL, { click } = HTMLAnchorElement.prototype;
	let blob;
	URL.createObjectURL = (object) => {
		blob = object;
		return "";
	};
	HTMLAnchorElement.prototype.click = () => {};
	document.querySelector(`#${exhibit} button.save`).click();
	URL.createObjectURL = createObjectURL;
	HTMLAnchorElement.prototype.click = click;
	return blob.text();
}, id);

/** Integers digit by digit; other numbers may be written in another way. */
const sameCell = (a, b) => a === b || (a !== "" && b !== "" && !/^-?\d+$/.test(a) && Number(a) === Number(b));

/** What a page saves is what wfstat --format csv prints. */
async function checkCsv(page, tables) {
	for (const [id, { csv, less }] of Object.entries(tables)) {
		const wanted = parseCsv(csv), got = parseCsv(await saved(page, id));
		const columns = wanted[0].map((name, i) => [name, i]).filter(([name]) => !less.includes(name));
		equal(`the CSV of ${id} has the columns of wfstat`, got[0], columns.map(([name]) => name));
		const other = wanted.slice(1).flatMap((row, y) => columns.filter(([, x], i) => !sameCell(row[x], got[y + 1]?.[i] ?? null))
			.map(([name, x], i) => `${y} ${name}: ${row[x]} ${got[y + 1]?.[i]}`));
		equal(`the CSV of ${id} has the cells of wfstat`, [got.length, other.slice(0, 5)], [wanted.length, []]);
	}
}

/** Moments in nanoseconds have more digits than a number of JavaScript. */
async function checkDigits(page) {
	const source = await page.$eval("#data-critical-path", (element) => element.textContent);
	const moments = source.slice(source.indexOf('"rows"')).match(/(?<=[:\s,])\d{16,}(?=[,}\s])/g) ?? [];
	const text = await save(page, "critical-path");
	equal("the CSV has all digits", moments.filter((moment) => !text.includes(moment)), []);
	check("of some moments", moments.length > 0, source.slice(0, 200));
}

async function checkExhibits(page) {
	const without = await page.$$eval(".exhibit", (all) => all.filter((e) =>
		!e.querySelector("details.sql pre")?.textContent.includes("SELECT") || !e.querySelector("button.save")).map((e) => e.id));
	equal("each exhibit has its SQL and a CSV", without, []);
	const text = await save(page, "gantt");
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
	await page.click("#gantt th:nth-child(7)");
	const begins = await page.$$eval("#gantt .rows tbody tr", (list) => list.map((tr) => parseFloat(tr.cells[6].textContent)));
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
	const idOf = async (of) => (await of.getAttribute("id")).replace(/^dag-/, "");
	equal("of this node", await page.getAttribute("#facts", "data-node"), await idOf(node));
	check("there are facts", (await page.locator("#facts dd").count()) > 2);
	await page.click("#facts-close");
	check("they can be closed", !(await page.locator("#facts").isVisible()));
	const last = box.locator("g.node[tabindex]").last();
	await last.dispatchEvent("click");
	equal("a click shows them, too", await page.getAttribute("#facts", "data-node"), await idOf(last));
	await page.keyboard.press("Escape");
	await box.focus();
	await page.keyboard.press("+");
	const zoomed = await transform();
	check("the graph zooms", zoomed !== before, zoomed);
	await page.keyboard.press("ArrowRight");
	check("the graph moves", (await transform()) !== zoomed);
}

async function checkIds(page) {
	const ids = await page.$$eval("[id]", (all) => all.map((element) => element.id));
	equal("no two elements have the same id", ids.filter((id, i) => ids.indexOf(id) !== i).slice(0, 5), []);
	check("there are ids", ids.length > 20, ids.length);
}

/** At once, without zooming: of the first node. */
async function checkLegible(page, least) {
	for (const id of ["dag", "tree"]) {
		const text = page.locator(`#${id}-picture g.node text`).first();
		const height = (await text.count()) ? (await text.boundingBox()).height : 0;
		check(`names in ${id} can be read`, height >= least, `${height} pixels`);
	}
}

/** A step has the same colour in the graphs, in their legends and in the time line. */
async function checkColours(page) {
	const { colours, bars, nodes, legends, signs, facts } = await page.evaluate(() => {
		const rows = (id) => JSON.parse(document.getElementById(`data-${id}`).textContent).rows;
		const fills = (all) => [...new Set([...all].map((element) => element.getAttribute("fill")))];
		return {
			colours: Object.fromEntries(rows("step-colours").map((row) => [row.step, row.colour])),
			bars: fills(document.querySelectorAll('figure[data-chart="timeline"] g[aria-label="bars"] rect')),
			nodes: [...document.querySelectorAll("#dag-picture g.node")].map((node) =>
				[node.id.replace(/^dag-/, ""), node.querySelector("[fill]:not([fill=none])")?.getAttribute("fill")]),
			legends: [...document.querySelectorAll(".steps li")].map((li) =>
				[li.textContent, li.querySelector("rect")?.getAttribute("fill")]),
			signs: [...document.querySelectorAll(".signs li > svg")].map((svg) => svg.children.length),
			facts: Object.fromEntries(rows("dag").filter((row) => row.element === "node").map((row) => [row.id, row])),
		};
	});
	const known = new Set([...Object.values(colours), "#999999"]);
	equal("bars have colours of steps", bars.filter((colour) => !known.has(colour)), []);
	equal("so have legends of graphs", legends.filter(([step, colour]) => colour && colours[step] !== colour), []);
	const coloured = nodes.filter(([id]) => facts[id]?.step && facts[id]?.kind === "process");
	equal("so have nodes", coloured.filter(([id, fill]) => fill !== (colours[facts[id].step] ?? "#999999")).slice(0, 5), []);
	check("each sign of a legend is drawn", signs.length > 0 && signs.every((shapes) => shapes > 0), signs);
	check("there are legends", legends.length > 0 || Object.keys(colours).length === 0, legends.length);
}

/** Names that would be markup, or would turn the text around them. */
async function checkHostile(page, names) {
	const text = await page.evaluate(() => document.body.textContent);
	for (const name of names)
		check(`${JSON.stringify(name)} stands in the page as it is`, text.includes(name));
	const drawn = await page.$$eval("#dag-picture g.node text", (all) => all.map((element) => element.textContent));
	for (const name of names.map((all) => all.slice(0, 40))) // of which it shows so many characters
		check(`${JSON.stringify(name)} stands in the graph as it is`, drawn.some((label) => label.includes(name)), drawn.join(" | "));
	equal("no element came from a name", await page.$$eval("body b, body img, body script:not([type]):not(:last-of-type)",
		(all) => all.map((e) => e.outerHTML.slice(0, 80))), []);
}

/** No text lies on another one, however wide the page is. */
async function checkOverlaps(browser, entry) {
	const page = await open(browser, entry.page);
	await eachOverlap(page, (what, { found, cut, texts }) => {
		check(`${what}: there are texts`, texts > 20, texts);
		equal(`${what}: texts that lie on others`, found.slice(0, 5), []);
		equal(`${what}: texts of charts that are cut off`, cut.slice(0, 5), []);
	});
	await close(page);
}

/** From the begin of the page. */
async function checkSkip(browser, entry) {
	const page = await open(browser, entry.page);
	await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");
	let tabs = 1;
	while (tabs < 5 && !(await page.evaluate(() => document.activeElement.closest("#dag .graph")))) {
		await page.keyboard.press("Tab");
		tabs++;
	}
	check("the graph is reached in 5 tabs", await page.evaluate(() => document.activeElement.closest("#dag .graph") !== null), tabs);
	await close(page);
}

async function checkPrint(page) {
	await page.emulateMedia({ media: "print" });
	await page.setViewportSize({ width: 718, height: 1000 }); // A4
	const wide = await page.evaluate(() => {
		document.querySelectorAll("details").forEach((d) => (d.open = true));
		// What lies within a picture is cut or scaled by it.
		return [...document.querySelectorAll("body *:not(svg *)")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
			.map((e) => `${e.closest(".exhibit")?.id} ${e.tagName}.${e.className} ${e.getBoundingClientRect().right}`);
	});
	equal("nothing is wider than the paper", wide.slice(0, 5), []);
	check("nor is the page", await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
	const pdf = await page.pdf({ format: "A4" });
	check("it can be printed", pdf.subarray(0, 5).toString() === "%PDF-" && pdf.length > 20000, pdf.length);
}

const ENDS = [[/_bytes$/, bytes], [/_rate$/, rate], [/_share$/, (value) => percent(value).replace(/ %$/, "")],
	[/^(start|end|first|last|open|close|t|first_write|last_write|first_read|last_use|deleted|delete_after|begin)_ns$/, () => null],
	[/_ns$/, nanoseconds], [/_s$/, seconds]];

/** Of rows that are about something else than their columns, what they are about: "runtime_ns" in the column value. */
const NAMES = ["value", "fact"];
const BOUNDS = { latency: "x_ns", "read-size": "x_bytes", "write-size": "x_bytes" };
const PLAIN = ["count", "fit", "failed"];

/** What stands in a cell; null: that is not looked at here. */
function cellOf(table, row, column) {
	const value = row[column], about = NAMES.map((name) => row[name]).find((name) => typeof name === "string");
	if (value === null)
		return "-";
	if (column === "errno") // its name
		return null;
	if (about === "processes_without_cpu")
		return value === about ? "CPU time unknown for" : `${value} ${value === 1 ? "process" : "processes"}`;
	if (value === about) // as a column is called
		return value.replace(/_(ns|s|bytes)$/, "").replace(/_share$/, " %").replaceAll("_", " ");
	if (typeof value === "string") // JSON has other signs for what is no text
		return /[\0-\x1f\x7f-\x9f\ufffd]/.test(value) ? null : value;
	const unit = ["from", "to"].includes(column) && BOUNDS[table] ? BOUNDS[table]
		: about && !PLAIN.includes(column) ? about : column;
	const format = ENDS.find(([end]) => end.test(unit))?.[1];
	return format ? format(value) : Number.isInteger(value) ? String(value) : null;
}

/** All rows, as the programs write them. */
async function checkCells(page, entry) {
	let cells = 0;
	const tables = await page.$$eval(".exhibit", (all) => all.map((exhibit) => ({ id: exhibit.id,
		shown: [...exhibit.querySelectorAll(".rows tbody tr")].map((tr) => [...tr.cells].map((td) => td.textContent)),
		rows: JSON.parse(document.getElementById(`data-${exhibit.id}`)?.textContent ?? "null")?.rows ?? [] })));
	for (const { id, shown, rows } of tables) {
		if (["overview", "dag", "tree", "phases"].includes(id))
			continue; // no table, or one whose cells have units of their own
		equal(`${id}: as many rows without JavaScript`, shown.length, rows.length);
		const other = rows.flatMap((row, y) => Object.keys(row).map((column, x) => [cellOf(id, row, column), shown[y]?.[x], column])
			.filter(([wanted]) => wanted !== null && ++cells).filter(([wanted, got]) => wanted !== got));
		equal(`${id}: cells without JavaScript`, other.slice(0, 5), []);
	}
	check("cells are there without JavaScript", cells > (entry.charts ? 500 : 10), cells);
}

async function checkWithoutScript(browser, entry) {
	const page = await open(browser, entry.page, { javaScriptEnabled: false });
	check("tables are there without JavaScript", (await page.locator("table").count()) > 8);
	await checkCells(page, entry);
	await checkIds(page);
	if (entry.graph) {
		check("and the graph", (await page.locator("#dag-picture svg g.node").count()) > 0);
		await checkLegible(page, 10);
	}
	check("and the page says what is missing", (await page.locator("noscript .note").count()) === 1);
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
	await checkCsv(page, entry.tables);
	await checkIds(page);
	for (const words of entry.warnings ?? [])
		check(`it warns: ${words}`, (await page.textContent(".warnings")).includes(words));
	for (const words of entry.says ?? [])
		check(`it says: ${words}`, (await page.textContent("body")).includes(words));
	if (entry.hostile)
		await checkHostile(page, entry.hostile);
	if (entry.graph) {
		await checkExhibits(page);
		await checkDigits(page);
		await checkLegible(page, 8);
		await checkColours(page);
		await checkTimeline(page);
		await checkGraph(page);
		await checkFilter(page);
	}
	await checkPrint(page);
	await close(page);
	await checkOverlaps(browser, entry);
	if (entry.graph) {
		const dark = await open(browser, entry.page, { colorScheme: "dark" });
		const back = await dark.evaluate(() => getComputedStyle(document.body).backgroundColor);
		check("it is dark where that is wished", back === "rgb(21, 24, 27)", back);
		await close(dark);
		await checkSkip(browser, entry);
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
