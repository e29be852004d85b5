// GitHub's own expression engine behind a pipe: one request per line in, one answer per line out.
//   {"expression": "…", "contexts": {…}, "status": "success" | "failure" | "cancelled"}
import { createInterface } from "node:readline";
import { Evaluator, Lexer, Parser, data } from "@actions/expressions";

const STATUS = {
  always: () => true,
  success: (status) => status === "success",
  failure: (status) => status === "failure",
  cancelled: (status) => status === "cancelled",
};

function answer({ expression, contexts, status }) {
  const functions = Object.entries(STATUS).map(([name, holds]) => ({
    name,
    minArgs: 0,
    maxArgs: 0,
    call: () => new data.BooleanData(holds(status)),
  }));
  const { tokens } = new Lexer(expression).lex();
  const parsed = new Parser(tokens, Object.keys(contexts), functions).parse();
  const known = JSON.parse(JSON.stringify(contexts), data.reviver);
  const byName = new Map(functions.map((item) => [item.name, item]));
  const result = new Evaluator(parsed, known, byName).evaluate();
  return { text: result.coerceString(), truthy: isTruthy(result) };
}

function isTruthy(result) {
  if (result.kind === data.Kind.Null) return false;
  return !["false", "0", "", "NaN"].includes(result.coerceString());
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = answer(JSON.parse(line));
  } catch (error) {
    reply = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}
