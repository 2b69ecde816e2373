/**
 * Writes openapi.json from the routes; `--check` writes nothing and fails when the file is stale.
 * Run with `npx tsx script/openapi.ts`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { routes } from "../src/app.ts";
import { openapiDocument } from "../src/http/openapi.ts";

const file = new URL("../openapi.json", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const text = `${JSON.stringify(openapiDocument(routes, { version, serverUrl: "/v1" }), null, 2)}\n`;

const readOld = (): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
};

if (!process.argv.includes("--check")) {
  writeFileSync(file, text);
} else if (readOld() !== text) {
  console.error("openapi.json is stale: run npx tsx script/openapi.ts");
  process.exitCode = 1;
}
