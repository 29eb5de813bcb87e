// SPDX-License-Identifier: MIT
//
// build.mjs OUT: puts page.html, page.css, src/ and the libraries together as one file, which embed.py makes a C string of.
//
// The Content-Security-Policy of the page names its one style and its one script by their hashes; no
// other may be in it. What wfreport replaces stands between two \x01.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const read = (name) => readFileSync(join(here, name), "utf8");

// Observable Plot puts <style> into its charts, which the policy forbids; page.css has these rules.
const withoutStyles = {
	name: "without-styles",
	setup(b) {
		b.onLoad({ filter: /@observablehq\/plot\/src\/(plot|legends\/ramp|legends\/swatches)\.js$/ }, ({ path }) => {
			const text = readFileSync(path, "utf8");
			const mended = text.replace(/\b(svg\.append\("style"\)|div\.insert\("style", "\*"\))\.text\(/g, "void (");
			if (mended === text)
				throw new Error(`${path} has no <style>: look at build.mjs`);
			return { contents: mended, loader: "js" };
		});
	},
};

async function bundle() {
	const result = await build({
		entryPoints: [join(here, "src/main.js")], absWorkingDir: here, bundle: true, minify: true, write: false,
		format: "iife", target: "es2020", charset: "ascii", metafile: true, legalComments: "none",
		plugins: [withoutStyles], logLevel: "error",
	});
	return { script: result.outputFiles[0].text.trim(), inputs: Object.keys(result.metafile.inputs) };
}

const escape = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** The packages that a bundle is made of, with their licences. */
function licences(inputs) {
	const names = new Set();
	for (const input of inputs) {
		const match = input.match(/^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//);
		if (match)
			names.add(match[1]);
	}
	if (names.size === 0)
		throw new Error("no package in the bundle");
	return [...names].sort().map((name) => {
		const about = JSON.parse(read(`node_modules/${name}/package.json`));
		const file = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE"].map((f) => `node_modules/${name}/${f}`)
			.find((f) => existsSync(join(here, f)));
		return `<details><summary>${escape(name)} ${escape(about.version)}: ${escape(about.license ?? "see below")}` +
			`</summary><pre>${file ? escape(read(file).trim()) : ""}</pre></details>`;
	}).join("\n");
}

const hash = (text) => `sha256-${createHash("sha256").update(text).digest("base64")}`;

async function page() {
	const { script, inputs } = await bundle();
	const style = read("page.css");
	if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style))
		throw new Error("the script or the style would end itself");
	const parts = {
		SCRIPT: script, STYLE: style, SCRIPT_HASH: hash(script), STYLE_HASH: hash(style),
		LICENCES: licences(inputs),
	};
	return read("page.html").replace(/@([A-Z_]+)@/g, (all, name) => parts[name] ?? `\x01${name}\x01`);
}

const text = await page();
if (text.split("\x01").length !== 2 * text.match(/\x01[A-Z]+\x01/g).length + 1)
	throw new Error("a \\x01 in the page that is none of ours");
writeFileSync(process.argv[2], text);
