// SPDX-License-Identifier: MIT
//
// format.mjs UNITS.tsv: the page writes numbers as the programs do (tests/unit/test_units.c reads the same table).
import { readFileSync } from "node:fs";
import { bytes, nanoseconds, percent, rate, seconds, wholeTicks } from "../src/format.js";

const formats = { bytes, rate, time: nanoseconds, share: (value) => percent(value).replace(/ %$/, ""), seconds };
let looked = 0, failed = 0;

for (const line of readFileSync(process.argv[2], "utf8").trim().split("\n")) {
	const [kind, value, wanted] = line.split("\t");
	const got = formats[kind](Number(value));
	looked++;
	if (got !== wanted) {
		failed++;
		console.log(`NOT SO: ${kind} ${value} is ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
	}
}
// Ticks of counts are whole numbers, from 0 on, in equal steps, and neither few nor many.
for (let most = 0; most < 5000; most = Math.max(most + 1, Math.floor(most * 1.07))) {
	const ticks = wholeTicks(most, 5), step = ticks[1] ?? 1;
	looked++;
	if (!ticks.every((tick, i) => Number.isInteger(tick) && tick === i * step && tick <= most) || ticks.length > 6 || most - ticks.at(-1) >= step) {
		failed++;
		console.log(`NOT SO: ticks up to ${most} are ${ticks}`);
	}
}
console.log(`${looked} numbers looked at, ${failed} not so`);
process.exit(failed || !looked ? 1 : 0);
