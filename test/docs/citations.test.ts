import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect } from "chai";
import { filesOf, read, root, rootDocuments } from "./repository.ts";

const CITING = ["src", "workers", "test", "script", "bench", "bin", "docs", "examples", "clients", "deploy"];

/** A document's path with its anchor, as it is mentioned in any text. An address on the web is none. */
const CITATION = /(?<![\w/.*$:{}<>-])((?:\.{1,2}\/)*[\w-][\w.-]*(?:\/[\w.-]+)*\.md)(#[\w-]+)?/g;
const WEB = /https?:\/\/\S+/g;
const LINK = /\[[^\]]*\]\(([^()\s]+)\)/g;
const CODE_PATH =
  /(?<![\w/.-])((?:src|workers|test|script|bench|bin|examples)\/[\w./-]*\w)(?![\w*<{]|\/[*<{])/g;

const SETTING = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

interface Cited {
  file: string;
  line: number;
  text: string;
  path: string;
  anchor: string;
}

const isFile = (path: string) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile() ?? false;

/** Returns the anchors of a document's headings, as GitHub makes them. */
function anchorsOf(document: string): Set<string> {
  const anchors = new Set<string>();
  const counts = new Map<string, number>();
  for (const line of withoutFences(read(document))) {
    const heading = /^#{1,6} +(.*?) *#*$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const slug = slugOf(heading);
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

function slugOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

/** The lines of a document; those of fenced code are empty. */
function withoutFences(text: string): string[] {
  let isFenced = false;
  return text.split("\n").map(line => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isFenced = !isFenced;
    return isFenced || isFence ? "" : line;
  });
}

/** Resolves a path from the root, or from the file's own folder if relative; null if there is no such file. */
function resolve(file: string, path: string): string | null {
  const own = normalize(join(dirname(file), path));
  const isRelative = file.endsWith(".md") || path.startsWith(".");
  if (isRelative && isFile(own)) return own;
  return isFile(path) ? path : null;
}

function citationsIn(file: string): Cited[] {
  return read(file)
    .split("\n")
    .flatMap((text, i) =>
      [...text.replaceAll(WEB, "").matchAll(CITATION)].map(match => {
        const [whole, path = "", anchor = ""] = match;
        return { file, line: i + 1, text: whole, path, anchor: anchor.slice(1) };
      }),
    );
}

function linksIn(file: string): Cited[] {
  return withoutFences(read(file)).flatMap((text, i) =>
    [...text.matchAll(LINK)]
      .map(([, target = ""]) => target)
      .filter(target => !/^[a-z]+:/.test(target))
      .map(target => {
        const [path = "", anchor = ""] = target.split("#");
        return { file, line: i + 1, text: target, path, anchor };
      }),
  );
}

const anchors = new Map<string, Set<string>>();

/** Returns what is wrong with a citation; null if its file and its anchor exist. */
function faultOf({ file, path, anchor }: Cited): string | null {
  const target = path === "" ? file : resolve(file, path);
  if (target === null) {
    const linked = normalize(join(dirname(file), path));
    return file.endsWith(".md") && existsSync(join(root, linked)) ? null : "there is no such file";
  }
  if (anchor === "" || !target.endsWith(".md")) return null;
  const known = anchors.get(target) ?? anchorsOf(target);
  anchors.set(target, known);
  return known.has(anchor) ? null : `${target} has no heading with this anchor`;
}

function expectResolved(cited: Cited[]): void {
  const faults = cited.flatMap(one => {
    const fault = faultOf(one);
    return fault === null ? [] : [`${one.file}:${one.line} ${one.text}: ${fault}`];
  });
  expectNone(faults, "citations do not resolve");
}

function expectNone(lines: string[], what: string): void {
  if (lines.length > 0) expect.fail(`${lines.length} ${what}:\n${lines.join("\n")}`);
}

const files = filesOf(...CITING, ".env.example", "openapi.json", ...rootDocuments());
const documents = files.filter(file => file.endsWith(".md"));

describe("citations", () => {
  it("name documents of the repository and their headings", () => {
    const cited = files.flatMap(citationsIn);
    expect(cited.length).to.be.greaterThan(50);
    expectResolved(cited);
  });

  it("name a decision by its whole file name", () => {
    const cut = files.flatMap(file =>
      read(file)
        .split("\n")
        .flatMap((text, i) =>
          /decisions\/\d{4}(?![\d-])/.test(text) ? [`${file}:${i + 1} ${text.trim()}`] : [],
        ),
    );
    expectNone(cut, "decisions are cited without their file name");
  });
});

describe("documents", () => {
  it("link to files, folders and headings that exist", () => {
    const links = documents.flatMap(linksIn);
    expect(links.length).to.be.greaterThan(5);
    expectResolved(links);
  });

  it("name code by paths that exist", () => {
    const lost = documents.flatMap(file =>
      read(file)
        .split("\n")
        .flatMap((text, i) => [...text.matchAll(CODE_PATH)].map(([, path = ""]) => ({ path, line: i + 1 })))
        .filter(({ path }) => !existsSync(join(root, path)))
        .map(({ path, line }) => `${file}:${line} ${path}`),
    );
    expectNone(lost, "paths of code do not exist");
  });

  it("name functions that their files define", () => {
    // `name` (src/path.ts)
    const NAMED = /`(\w+)`\s\((src\/[\w./-]+\.ts)\)/g;
    const named = documents.flatMap(file =>
      [...read(file).replaceAll("\n", " ").matchAll(NAMED)].map(([, name = "", path = ""]) => ({
        file,
        name,
        path,
      })),
    );
    expect(named.length).to.be.greaterThan(10);
    const lost = named
      .filter(({ path }) => isFile(path))
      .filter(({ name, path }) => !new RegExp(`\\b${name}\\b`).test(read(path)))
      .map(({ file, name, path }) => `${file} ${name} (${path})`);
    expectNone(lost, "functions are not where a document says");
  });

  it("name settings that some file of ours reads", () => {
    const readers = [".env.example", ...filesOf("src", "script", "bench", "test/faults")];
    const known = new Set(readers.flatMap(file => read(file).match(SETTING) ?? []));
    const lost = documents.flatMap(file =>
      [...read(file).matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)]
        .filter(([, name = ""]) => !known.has(name))
        .map(([, name]) => `${file} ${name}`),
    );
    expectNone(lost, "settings do not exist");
  });
});

describe("anchors", () => {
  it("are made of headings as GitHub makes them", () => {
    expect(slugOf("Guarantee 1")).to.equal("guarantee-1");
    expect(slugOf("Errors, logs and limits")).to.equal("errors-logs-and-limits");
    expect(slugOf("`$emit`: what it takes")).to.equal("emit-what-it-takes");
  });
});
