import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { settingNames } from "../../src/setting-schema.ts";
import { redisKeys } from "../../src/store/keys.ts";
import { decisionFigures, waitingPlaces } from "./documents.ts";
import { touches } from "./private-parts.ts";
import { countIn, filesBelow, importersOf, root, sourcesEnding } from "./sources.ts";
import { type Ways, withoutFloor } from "./ways.ts";

export interface Figure {
  name: string;
  value: number | string;
  /** What issue 31 wants. */
  aim?: string;
  note?: string;
}

const SMALL_LINES = 40;
/** A named number: the name in capitals, and nothing but numbers and other names on the right. */
const NUMERIC_CONSTANT = /^(?:export )?const [A-Z][A-Z0-9_]*(?:: \w+)? = [-\d][-\w.* +/()]*;$/gm;

/** The figures that are read from files. Takes seconds. */
export function staticFigures(): Figure[] {
  const code = sourcesEnding(".ts");
  const lua = sourcesEnding(".lua");
  const tests = filesBelow("test", ".ts", "test/fixtures/components/");
  const lines = (files: { lines: number }[]) => files.reduce((sum, file) => sum + file.lines, 0);
  const importers = importersOf(code);
  const withOneImporter = [...importers].filter(([path, by]) => path.startsWith("src/") && by.size === 1);
  const touched = touches();
  const decisions = decisionFigures();
  return [
    { name: "files of src and workers, .ts", value: code.length, aim: "≤ 700" },
    { name: "lines of them", value: lines(code), aim: "≤ 64,000" },
    { name: "files, .lua", value: lua.length },
    { name: "lines of them, .lua", value: lines(lua) },
    { name: "files of src with one importer", value: withOneImporter.length },
    {
      name: `files with at most ${SMALL_LINES} lines`,
      value: code.filter(file => file.lines <= SMALL_LINES).length,
    },
    { name: "Pick<Platform, …> lists", value: countIn(code, /\bPick<\s*Platform\b/g), aim: "0" },
    { name: "types named …Deps", value: countIn(code, /^\s*(?:export )?(?:type|interface) \w*Deps\b/gm) },
    {
      name: "numeric constants",
      value: countIn(code, NUMERIC_CONSTANT),
      note: "CONST = number, at the top of a file",
    },
    { name: "settings", value: settingNames.length, aim: "≤ 45" },
    { name: "settings in .env.example", value: settingsInExample().length },
    {
      name: "Redis keys",
      value: redisKeyNames().length,
      note: "functions of src/store/keys.ts, without patterns",
    },
    { name: "private parts of libraries", value: new Set(touched.map(({ what }) => what)).size },
    { name: "places that touch them", value: touched.length },
    { name: "places where a delivery waits", value: waitingPlaces().length, aim: "≤ 5" },
    { name: "decisions", value: decisions.files },
    { name: "words of them", value: decisions.words, aim: "≤ 12,000" },
    { name: "decisions without a status", value: decisions.withoutStatus.length, aim: "0" },
    { name: "decisions over 40 lines", value: decisions.overlong.length, aim: "0" },
    { name: "lines of tests to lines of .ts", value: (lines(tests) / lines(code)).toFixed(2) },
    {
      name: "npm test, seconds",
      value: suiteSeconds() ?? "not recorded",
      aim: "≤ 300",
      note: "the last whole run here",
    },
  ];
}

/** The names of keys; what `SCAN` matches is a pattern and no key. */
export function redisKeyNames(): string[] {
  const keys: Record<string, (...args: string[]) => string | string[]> = { ...redisKeys("prefix") };
  return Object.entries(keys)
    .filter(([, keyOf]) => ![keyOf("a", "b")].flat().some(key => key.includes("*")))
    .map(([name]) => name);
}

export function settingsInExample(): string[] {
  const text = readFileSync(join(root, ".env.example"), "utf8");
  return [...new Set([...text.matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(([, name = ""]) => name))];
}

/** The time that the last whole `npm test` took on this machine, as script/lib/test.mjs recorded it; null if it did not. */
function suiteSeconds(): number | null {
  const file = join(root, ".cache/test-suite.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).seconds : null;
}

/** The counts of the issue are of files that a reader visits, so that they are smaller than these. */
const WAYS: { key: keyof Ways; name: string; aim: string }[] = [
  { key: "request", name: "request to an endpoint → delivery recorded", aim: "112 → ≤ 75" },
  { key: "create", name: "POST /sources", aim: "57 → ≤ 35" },
  { key: "firstAttempt", name: "first attempt, from its job", aim: "22 → ≤ 13" },
  { key: "retry", name: "retry", aim: "21 → ≤ 11" },
];

/** The figures of the ways that were run. */
export function wayFigures(ways: Ways): Figure[] {
  return WAYS.flatMap(({ key, name, aim }) => {
    const deliveries = ways[key].filter(file => file.startsWith("src/deliveries/"));
    return [
      { name: `files run: ${name}`, value: ways[key].length },
      { name: "  above sandbox/ in the import order", value: withoutFloor(ways[key]).length, aim },
      ...(deliveries.length === 0 ? [] : [{ name: "  of src/deliveries", value: deliveries.length }]),
    ];
  });
}
