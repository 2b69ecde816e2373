import { readFileSync } from "node:fs";

const isBuilt = import.meta.url.includes("/dist/");

/** The version of this build, from package.json. */
export const version: string = JSON.parse(
  readFileSync(new URL(`${isBuilt ? "../" : ""}../../package.json`, import.meta.url), "utf8"),
).version;
