// SPDX-License-Identifier: MIT
//
// stacks.mjs FILE...: the stacks that speedscope (npm) finds in each file, as JSON: [[[[frame, ...], own value], ...] of each profile].
import { opened } from "./opened.mjs";

const KEY = "\0";

/** The value of each stack without those above it, of the events of a profile. */
function stacks(profile, frames) {
	const open = [], own = new Map();
	let at = profile.startValue;
	for (const event of profile.events) {
		if (open.length && event.at > at) {
			const key = open.join(KEY);
			own.set(key, (own.get(key) ?? 0) + event.at - at);
		}
		at = event.at;
		if (event.type === "O")
			open.push(frames[event.frame].name);
		else
			open.pop();
	}
	return [...own].map(([key, value]) => [key.split(KEY), value]);
}

const found = await opened(process.argv.slice(2), "t.txt");
console.log(JSON.stringify(found.map((file) => file.profiles.map((profile) => stacks(profile, file.shared.frames)))));
