// GitHub's packages import JSON without the attribute that Node asks for.
import { readFile } from "node:fs/promises";
import { register } from "node:module";

export async function load(url, context, next) {
  if (!url.startsWith("file:") || !url.endsWith(".json")) return next(url, context);
  const text = await readFile(new URL(url), "utf-8");
  return { format: "module", shortCircuit: true, source: `export default ${text}` };
}

if (process.argv[1]) register(import.meta.url);
