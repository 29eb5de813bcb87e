// SPDX-License-Identifier: MIT
//
// What speedscope (npm) makes of files, headless: its own export of each, as it is shown to a user.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const release = join(dirname(fileURLToPath(import.meta.url)), "../node_modules/speedscope/dist/release/index.html");

async function open(browser, work, file, name) {
	writeFileSync(join(work, "p.js"),
		`speedscope.loadFileFromBase64(${JSON.stringify(name)}, ${JSON.stringify(readFileSync(file).toString("base64"))});`);
	const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
	page.on("pageerror", (error) => console.error(`speedscope says: ${error.message}`));
	await page.goto(`${pathToFileURL(release).href}#localProfilePath=${join(work, "p.js")}`);
	const download = page.waitForEvent("download");
	await page.getByText("Export").click({ timeout: 30000 });
	const got = JSON.parse(readFileSync(await (await download).path(), "utf8"));
	await page.close();
	return got;
}

/** files: their names; name: what speedscope is told, by whose end it may know the format. */
export async function opened(files, name) {
	const work = mkdtempSync(join(tmpdir(), "ftrac-speedscope-"));
	process.env.HOME = work;
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless",
		"--no-sandbox", "--allow-file-access-from-files", "--use-angle=swiftshader", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync"] });
	try {
		const found = [];
		for (const file of files)
			found.push(await open(browser, work, file, name));
		return found;
	} finally {
		await browser.close();
		rmSync(work, { recursive: true, force: true });
	}
}
