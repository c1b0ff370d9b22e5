/**
 * Records what a release writes and answers, in the folder `test/releases/<version>`: see the README beside this file.
 * Takes the folder of a checkout of the release; this one without an argument.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { factSchemas } from "./schemas.ts";

const checkout = resolve(process.argv[2] ?? join(import.meta.dirname, "../.."));
const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as { readonly version: string };
const folder = join(import.meta.dirname, version);

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "schemas.json"), factSchemas(checkout));
console.log(`${basename(folder)} is recorded in ${folder}`);
