// SPDX-License-Identifier: MIT
//
// speedscope.mjs TIMELINE.json PROCESSES.json: speedscope (npm) opens what wfreport --perfetto has written, headless, and
// says by its own export what it has understood: it must be these processes, [{ id, program, length_us }], and their times.
import { readFileSync } from "node:fs";
import { opened } from "./opened.mjs";

const [file, list] = process.argv.slice(2);
const wanted = JSON.parse(readFileSync(list, "utf8"));
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

const [got] = await opened([file], "t.json");
// Of the threads of a process, the one in which it is a slice.
const profiles = new Map();
for (const profile of got.profiles) {
	const id = profile.name.match(/\(pid (\d+)\)/)?.[1], other = profiles.get(id);
	if (!other || Math.max(0, ...slices(profile)) > Math.max(0, ...slices(other)))
		profiles.set(id, profile);
}
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
console.log(`${looked} processes looked for in speedscope, ${failed} not so`);
process.exit(failed || !looked ? 1 : 0);
