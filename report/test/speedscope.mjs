// SPDX-License-Identifier: MIT
//
// speedscope.mjs TIMELINE.json PROCESSES.json: speedscope (npm) opens what wfreport --perfetto has written, headless, and
// says by its own export what it has understood: it must be these processes, [{ id, program, length_us }], and their times.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [file, list] = process.argv.slice(2);
const wanted = JSON.parse(readFileSync(list, "utf8"));
const release = join(dirname(fileURLToPath(import.meta.url)), "../node_modules/speedscope/dist/release/index.html");
const work = mkdtempSync(join(tmpdir(), "ftrac-speedscope-"));
writeFileSync(join(work, "p.js"),
	`speedscope.loadFileFromBase64("t.json", ${JSON.stringify(readFileSync(file).toString("base64"))});`);
process.env.HOME = work;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless",
	"--no-sandbox", "--allow-file-access-from-files", "--use-angle=swiftshader", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync"] });
let looked = 0, failed = 0;

/** Lengths of the slices of a profile. */
function slices(profile) {
	const open = [], lengths = [];
	for (const event of profile.events)
		if (event.type === "O")
			open.push(event.at);
		else
			lengths.push(event.at - open.pop());
	return lengths;
}

try {
	const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
	page.on("pageerror", (error) => console.log(`speedscope says: ${error.message}`));
	await page.goto(`${pathToFileURL(release).href}#localProfilePath=${join(work, "p.js")}`);
	await page.waitForFunction(() => /\d+\/\d+/.test(document.body.innerText), null, { timeout: 30000 });
	const download = page.waitForEvent("download");
	await page.getByText("Export").click();
	const got = JSON.parse(readFileSync(await (await download).path(), "utf8"));
	const profiles = new Map(got.profiles.map((profile) => [profile.name.match(/\(pid (\d+)\)/)?.[1], profile]));
	for (const { id, program, length_us: length } of wanted) {
		const profile = profiles.get(String(id));
		const factor = { microseconds: 1, milliseconds: 1e3, nanoseconds: 1e-3, seconds: 1e6 }[profile?.unit];
		// What it is long is the outermost slice, that of the process.
		const longest = profile ? Math.max(0, ...slices(profile)) * factor : -1;
		looked++;
		if (!profile || !profile.name.startsWith(program) || Math.abs(longest - length) > 1) {
			failed++;
			console.log(`NOT SO: process ${id}, ${program}, ${length} us: ${profile?.name}, ${longest} us`);
		}
	}
} finally {
	await browser.close();
	rmSync(work, { recursive: true, force: true });
}
console.log(`${looked} processes looked for in speedscope, ${failed} not so`);
process.exit(failed || !looked ? 1 : 0);
