import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.ts";

/** The files on each way, as bench/ways.ts prints them. */
export interface Ways {
  request: string[];
  create: string[];
  firstAttempt: string[];
  retry: string[];
}

/** Goes the ways on stores of their own, which takes about two minutes. Throws if that fails. */
export async function measureWays(): Promise<Ways> {
  const child = spawn(process.execPath, [join(root, "script/lib/ways.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", chunk => {
    printed += chunk;
  });
  const code = await new Promise(resolve => child.once("close", resolve));
  if (code !== 0) throw new Error(`script/lib/ways.mjs ended with ${code}`);
  return JSON.parse(printed.trim().split("\n").at(-1) ?? "");
}

/** The folders that serve all others: the head of the import order, up to this one. */
const LAST_OF_FLOOR = "sandbox";

/** Returns the files that are not in a folder that serves all others, by the order in .dependency-cruiser.cjs. */
export function withoutFloor(files: string[]): string[] {
  const order = importOrder();
  const floor = order.slice(0, order.indexOf(LAST_OF_FLOOR) + 1);
  return files.filter(file => !floor.some(folder => file.startsWith(`src/${folder}/`)));
}

function importOrder(): string[] {
  const text = readFileSync(join(root, ".dependency-cruiser.cjs"), "utf8");
  const list = /const ORDER = (\[[^\]]*\])/.exec(text)?.[1] ?? "[]";
  return JSON.parse(list.replace(/,\s*\]/, "]"));
}
