// SPDX-License-Identifier: MIT
//
// format.mjs UNITS.tsv: the page writes numbers as the programs do (tests/unit/test_units.c reads the same table).
import { readFileSync } from "node:fs";
import { bytes, nanoseconds, percent, rate, seconds } from "../src/format.js";

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
console.log(`${looked} numbers looked at, ${failed} not so`);
process.exit(failed || !looked ? 1 : 0);
