import { filesOf, read, rootDocuments } from "./repository.ts";
import { takeApart } from "./source-text.ts";

/** A word or phrase that docs/glossary.md replaces by another. */
export interface UnusedTerm {
  /** As the glossary writes it: words, a beginning such as `sprout*`, or a function such as `sprout()`. */
  term: string;
  /** What the glossary has instead. */
  instead: string;
}

/** A place in the repository where a term occurs. */
export interface Hit {
  term: string;
  file: string;
  line: number;
  /** The identifier, or the phrase with its neighbours. */
  text: string;
  instead: string;
}

interface Word {
  word: string;
  line: number;
  /** The text it was taken from: an identifier, or the word itself. */
  from: string;
}

/**
 * Reads the terms in backticks from the tables of the glossary: in the last column of a table headed `not`, in the first
 * one of a table that starts with `not`.
 */
export function readTerms(glossary: string): UnusedTerm[] {
  const terms: UnusedTerm[] = [];
  let columns: string[] = [];
  for (const line of glossary.split("\n")) {
    if (!line.startsWith("|")) {
      columns = [];
      continue;
    }
    const cells = line
      .replace(/^\||\|$/g, "")
      .split("|")
      .map(cell => cell.trim());
    if (columns.length === 0) columns = cells;
    const not = columns.indexOf("not");
    if (not < 0 || cells === columns || /^-+$/.test(cells[0] ?? "")) continue;
    const instead = (cells[not === 0 ? 1 : 0] ?? "").replaceAll(/[*`]/g, "");
    for (const [, term = ""] of (cells[not] ?? "").matchAll(/`([^`]+)`/g)) terms.push({ term, instead });
  }
  return terms;
}

/** Splits an identifier into lower-case words: `runsNotified`, `RUNS_NOTIFIED` and `runs-notified` are the same two. */
export function wordsOf(identifier: string): string[] {
  return identifier
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map(word => word.toLowerCase());
}

/** Terms to search for, with a memory of which of them can start with a word: most words start none. */
class Search {
  readonly #terms: { words: string[]; term: string; instead: string }[];
  readonly #functions: Map<string, UnusedTerm>;
  readonly #starting = new Map<string, { words: string[]; term: string; instead: string }[]>();

  constructor(terms: UnusedTerm[]) {
    this.#terms = terms
      .filter(({ term }) => !term.endsWith("()"))
      .map(({ term, instead }) => ({ term, instead, words: term.toLowerCase().split(" ") }));
    this.#functions = new Map(
      terms.filter(({ term }) => term.endsWith("()")).map(one => [one.term.slice(0, -2), one]),
    );
  }

  /** Finds terms in running text; a phrase never crosses a full stop, a comma or a bracket. */
  inText(text: string, file: string, firstLine = 1): Hit[] {
    const sequences: Word[][] = [[]];
    let line = firstLine;
    for (const [token] of text.matchAll(/\n|[A-Za-z0-9_$][\w$'’-]*|[^\s\w]/g)) {
      if (token === "\n") line += 1;
      else if (/^[\w$]/.test(token)) {
        const isIdentifier = /[a-z][A-Z]|[A-Za-z]_|\$/.test(token);
        const words = isIdentifier ? wordsOf(token) : token.toLowerCase().split("-");
        for (const word of words) sequences.at(-1)?.push({ word, line, from: token });
      } else if (!/^[`*"“”]$/.test(token)) sequences.push([]);
    }
    return sequences.flatMap(sequence => this.#inSequence(sequence, file));
  }

  /** Finds terms in the identifiers of code that has neither comments nor strings any more; each is found once. */
  inCode(code: string, file: string): Hit[] {
    const found = new Map<string, Hit>();
    for (const [i, text] of code.split("\n").entries()) {
      for (const match of text.matchAll(/[A-Za-z_$][\w$]*/g)) {
        const [identifier] = match;
        const isCalled = /^\s*(<[^()]*>)?\(/.test(text.slice(match.index + identifier.length));
        for (const hit of this.inIdentifier(identifier, file, { line: i + 1, isCalled })) {
          const key = `${hit.term} ${identifier}`;
          if (!found.has(key)) found.set(key, hit);
        }
      }
    }
    return [...found.values()];
  }

  /** Finds terms in an identifier or a path; one with brackets only if it is called or defined as a function. */
  inIdentifier(identifier: string, file: string, at: { line: number; isCalled: boolean }): Hit[] {
    const place = { file, line: at.line, text: identifier };
    const sequence = wordsOf(identifier).map(word => ({ word, line: at.line, from: identifier }));
    const hits = this.#inSequence(sequence, file).map(hit => ({ ...hit, ...place }));
    const named = at.isCalled ? this.#functions.get(identifier) : undefined;
    return named ? [...hits, { ...named, ...place }] : hits;
  }

  #inSequence(sequence: Word[], file: string): Hit[] {
    const hits: Hit[] = [];
    for (const [at, { word, line }] of sequence.entries()) {
      for (const { words, term, instead } of this.#startingWith(word)) {
        const length = matchAt(sequence, at, words);
        if (length === 0) continue;
        const around = sequence.slice(Math.max(0, at - 2), at + length + 2).map(({ from }) => from);
        const text = around.filter((from, i) => from !== around[i - 1]).join(" ");
        hits.push({ term, file, line, text, instead });
      }
    }
    return hits;
  }

  #startingWith(word: string) {
    let terms = this.#starting.get(word);
    if (!terms) {
      terms = this.#terms.filter(({ words: [first = ""] }) => isMatch(first, word));
      this.#starting.set(word, terms);
    }
    return terms;
  }
}

/** Returns true if a word is what a part of a term means: a number, a beginning, or the word itself. */
function isMatch(part: string, word: string): boolean {
  if (part === "n") return /^[0-9]/.test(word);
  return part.endsWith("*") ? word.startsWith(part.slice(0, -1)) : word === part;
}

/** Returns how many words of the sequence the term takes from `at` on; 0 if it is not there. */
function matchAt(sequence: Word[], at: number, wanted: string[]): number {
  let next = at;
  for (const part of wanted) {
    const word = sequence[next]?.word;
    if (word === undefined || !isMatch(part, word)) return 0;
    next += 1;
    if (part !== "n") continue;
    // A number may have a unit, as in 64 KB; "more than 0 and …" is another sentence.
    const after = sequence[next]?.word;
    if (after !== undefined && after !== wanted[1] && !/^(and|or|to|but|if)$/.test(after)) next += 1;
  }
  return next - at;
}

export const findInText = (text: string, terms: UnusedTerm[]): Hit[] => new Search(terms).inText(text, "");
export const findInCode = (code: string, terms: UnusedTerm[]): Hit[] => new Search(terms).inCode(code, "");

/** The one document that names the terms. */
const GLOSSARY = "docs/glossary.md";

const isCode = (file: string) => /\.([cm]?[jt]s|lua|sh)$/.test(file) || !/\.\w+$/.test(file);

/** Finds terms in identifiers, file names, comments and messages of the folders that the glossary rules. */
export function findInSources(terms: UnusedTerm[]): Hit[] {
  const search = new Search(terms);
  return filesOf("src", "workers", "test", "script", "bin", "clients", "deploy").flatMap(file => {
    const named = search.inIdentifier(file, file, { line: 0, isCalled: false });
    const hits = named.map(hit => ({ ...hit, text: "the file's name" }));
    if (!isCode(file)) return hits;
    const { code, comments, strings } = takeApart(file, read(file));
    for (const { line, text } of comments) hits.push(...search.inText(text, file, line));
    if (file.startsWith("test/")) return hits;
    hits.push(...search.inCode(code, file));
    // A text of several words is a message; a single word is a name, such as a setting's.
    for (const { line, text } of strings)
      if (/\w \w/.test(text)) hits.push(...search.inText(text, file, line));
    return hits;
  });
}

/** Finds terms in what readers of openapi.json see; each text once. */
export function findInOpenapi(terms: UnusedTerm[]): Hit[] {
  const search = new Search(terms);
  const file = "openapi.json";
  const texts = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (["description", "summary", "title"].includes(key) && typeof inner === "string") texts.add(inner);
      else collect(inner);
    }
  };
  collect(JSON.parse(read(file)));
  return [...texts].flatMap(text => search.inText(text, file));
}

/** Finds terms in documents; in the glossary the columns that name them are left out. */
export function findInDocuments(terms: UnusedTerm[]): Hit[] {
  const search = new Search(terms);
  const files = filesOf("docs", "examples", "clients", "deploy", ...rootDocuments()).filter(file =>
    file.endsWith(".md"),
  );
  return files.flatMap(file => {
    const text = read(file);
    return search.inText(file === GLOSSARY ? withoutTerms(text) : text, file);
  });
}

/** The glossary without its `not` columns; lines stay where they are. */
function withoutTerms(glossary: string): string {
  let not = -1;
  return glossary
    .split("\n")
    .map(line => {
      if (!line.startsWith("|")) {
        not = -1;
        return line;
      }
      const cells = line.split("|");
      if (not < 0) not = cells.findIndex(cell => cell.trim() === "not");
      return cells.filter((_, i) => i !== not).join("|");
    })
    .join("\n");
}
