// GitHub's own validator of workflows and actions: node language_service.mjs ACTION FILE…
// It knows no actions as `uses: ./…`, so those are renamed for it, and described by our own action.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { validate } from "@actions/languageservice";
import { TextDocument } from "vscode-languageserver-textdocument";
import { parse } from "yaml";

const [action, ...files] = process.argv.slice(2);
const OWN = "uses: own/action@commit";
const own = parse(readFileSync(action, "utf-8"));
// Of the actions of others, the inputs that the checked files may use.
const OTHERS = {
  "actions/checkout": ["fetch-depth", "path", "persist-credentials", "ref", "repository"],
  "actions/cache": ["key", "path", "restore-keys"],
  "actions/setup-python": ["python-version"],
  "actions/upload-artifact": ["if-no-files-found", "include-hidden-files", "name", "path"],
  "actions/download-artifact": ["github-token", "name", "path", "pattern", "run-id"],
};

const actionsMetadataProvider = {
  async fetchActionMetadata({ owner, name }) {
    if (owner === "own") return own;
    const inputs = OTHERS[`${owner}/${name}`];
    if (!inputs) throw new Error(`${owner}/${name} is not among the known actions`);
    return { inputs: Object.fromEntries(inputs.map((input) => [input, { description: input }])) };
  },
};

// Workflows that are called lie beside the action.
const fileProvider = {
  async getFileContent({ path }) {
    return { name: path, content: readFileSync(join(dirname(action), path), "utf-8") };
  },
};

let found = 0;
for (const file of files) {
  const text = readFileSync(file, "utf-8").replaceAll(/uses: \.\/(?!\.github\/workflows\/)\S*/g, OWN);
  const document = TextDocument.create(`file://${file}`, "yaml", 1, text);
  for (const { message, range } of await validate(document, { actionsMetadataProvider, fileProvider })) {
    console.log(`${file}:${range.start.line + 1}: ${message}`);
    found += 1;
  }
}
process.exitCode = found ? 1 : 0;
