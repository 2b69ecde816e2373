/**
 * Writes openapi.json from the routes; `--check` writes nothing, and fails when the file is stale or breaks a rule of
 * openapi-rules.ts. Run with `npm run openapi`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { routes } from "../src/app.ts";
import { openapiDocument } from "../src/http/openapi.ts";
import { openapiFaults } from "./openapi-rules.ts";

const file = new URL("../openapi.json", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const document = openapiDocument(routes, { version, serverUrl: "/v1" });
const text = `${JSON.stringify(document, null, 2)}\n`;

const readOld = (): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
};

if (process.argv.includes("--check")) {
  const faults = openapiFaults(document);
  if (readOld() !== text) faults.push("openapi.json is stale: run npm run openapi");
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
} else {
  writeFileSync(file, text);
}
