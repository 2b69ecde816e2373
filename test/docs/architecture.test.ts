import { dirname, join, normalize } from "node:path";
import { expect } from "chai";
import { filesOf, read, rootFolders } from "./repository.ts";

/** The list in `.dependency-cruiser.cjs`, whose rules see the built JavaScript: there a root file ends in `.js`. */
const ORDER: string[] = readOrder();

function readOrder(): string[] {
  const text = /const ORDER = \[([^\]]*)\]/.exec(read(".dependency-cruiser.cjs"))?.[1] ?? "";
  return [...text.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name.replace(/\.js$/, ".ts"));
}

/** Reads the names in the first column of the table below `## Import order`. */
function readTable(): string[] {
  const section =
    read("docs/architecture.md")
      .split(/^## /m)
      .find(part => part.startsWith("Import order")) ?? "";
  const rows = section.split("\n").filter(line => line.startsWith("| `"));
  return rows.flatMap(row =>
    [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  );
}

/** Parts of `config.ts`. */
const PARTS_OF_CONFIG = [
  "removed-settings.ts",
  "setting-formats.ts",
  "setting-lists.ts",
  "setting-names.ts",
  "setting-schema.ts",
];

/** Returns the entry of the order that a file of src/ belongs to: the longest that fits; null if none does. */
function entryOf(file: string): string | null {
  const inside = file.slice("src/".length);
  if (PARTS_OF_CONFIG.includes(inside)) return "config.ts";
  const fitting = ORDER.filter(name => inside === name || inside.startsWith(`${name}/`));
  return fitting.sort((a, b) => b.length - a.length)[0] ?? null;
}

const IMPORT = /^\s*(?:import|export)\b[^"';]*?["'](\.[^"']+)["']|\bimport\(\s*["'](\.[^"']+)["']/gm;

interface Import {
  from: string;
  to: string;
}

/** Imports between files of a folder, those of types and those of what is loaded later included. */
const importsWithin = (folder: string): Import[] =>
  filesOf(folder)
    .filter(file => /\.[cm]?[jt]sx?$/.test(file))
    .flatMap(from =>
      [...read(from).matchAll(IMPORT)]
        .map(([, static_, dynamic]) => normalize(join(dirname(from), static_ ?? dynamic ?? "")))
        .map(to => ({ from, to })),
    )
    .filter(({ to }) => to.startsWith(`${folder}/`));

const imports = importsWithin("src");

describe("the import order", () => {
  it("is the same in docs/architecture.md and in .dependency-cruiser.cjs", () => {
    expect(readTable()).to.deep.equal(ORDER);
  });

  it("has an entry for each folder and root file of src", () => {
    const missing = filesOf("src").filter(file => entryOf(file) === null);
    expect(missing).to.deep.equal([]);
  });

  it("names only folders and root files that exist", () => {
    const entries = new Set(filesOf("src").map(entryOf));
    expect(ORDER.filter(name => !entries.has(name))).to.deep.equal([]);
  });

  it("has no import that goes upward, not even of a type", () => {
    expect(imports.length).to.be.greaterThan(500);
    const rank = (file: string) => ORDER.indexOf(entryOf(file) ?? "");
    const upward = imports
      .filter(({ from, to }) => rank(to) > rank(from))
      .map(({ from, to }) => `${from} -> ${to}`);
    expect(upward).to.deep.equal([]);
  });

  it("has no circle of folders", () => {
    expect(circles(imports, file => entryOf(file) ?? file)).to.deep.equal([]);
  });
});

describe("the dashboard", () => {
  /** What stands before the screens; each imports only those before it. */
  const FOLDERS = ["styles", "lib", "api", "ui", "editor", "screens"];
  const within = importsWithin("dashboard");

  it("has no import that goes upward, not even of what is loaded later", () => {
    expect(within.length).to.be.greaterThan(500);
    // Files of no folder start the application, and import all of them.
    const rank = (file: string) => {
      const at = FOLDERS.indexOf(file.split("/")[1] ?? "");
      return at < 0 ? FOLDERS.length : at;
    };
    const upward = within
      .filter(({ from, to }) => rank(to) > rank(from))
      .map(({ from, to }) => `${from} -> ${to}`);
    expect(upward).to.deep.equal([]);
  });

  it("has no circle of files", () => {
    // Imports name files without their ends.
    expect(circles(within, file => file.replace(/\.tsx?$/, ""))).to.deep.equal([]);
  });
});

describe("CONTRIBUTING.md", () => {
  it("has a row for each folder of the repository", () => {
    const section = read("CONTRIBUTING.md")
      .split(/^## /m)
      .find(part => part.startsWith("Where things are"));
    const rows = [...(section ?? "").matchAll(/^\| `([\w-]+)\/` \|/gm)].map(([, name = ""]) => name);
    expect(rows.sort()).to.deep.equal(rootFolders());
  });
});

/**
 * Returns the circles of files, each as the names of its members: those that reach each other by imports. Files with one name
 * count as one.
 */
function circles(all: Import[], nameOf: (file: string) => string): string[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of all) {
    const [a, b] = [nameOf(from), nameOf(to)];
    if (a !== b) next.set(a, (next.get(a) ?? new Set()).add(b));
  }
  const reached = new Map([...next.keys()].map(start => [start, reachedFrom(start, next)]));
  const members = [...reached].map(([a, found]) => [...found].filter(b => reached.get(b)?.has(a)).sort());
  return [...new Set(members.filter(names => names.length > 0).map(names => names.join(", ")))];
}

function reachedFrom(start: string, next: Map<string, Set<string>>): Set<string> {
  const found = new Set<string>();
  const waiting = [...(next.get(start) ?? [])];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (found.has(one)) continue;
    found.add(one);
    waiting.push(...(next.get(one) ?? []));
  }
  return found;
}
