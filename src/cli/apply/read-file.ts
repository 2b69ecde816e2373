import { readFile, stat } from "node:fs/promises";
import { Ajv, type ErrorObject } from "ajv";
import { LineCounter, parseDocument } from "yaml";
import { AppError } from "../../lib/errors.ts";
import { type ReadVariable, resolveReferences } from "./references.ts";
import { Declaration, type DeclaredSource } from "./schema.ts";

/** What a file declares: as it is written, for plans, and with the values of the environment, for the server. */
export interface Declared {
  raw: Declaration;
  resolved: Declaration;
  /** Writes the names of variables in place of their values, which a message of the server may repeat. */
  redact: (text: string) => string;
}

const MAX_BYTES = 1024 * 1024;
/** More would only repeat themselves. */
const MAX_PROBLEMS = 10;

const validate = new Ajv({ allErrors: true, strict: false }).compile<Declaration>(Declaration);

/**
 * Reads the file of `headwater apply` and checks it. Throws AppError `invalid` in one line with the file, the line of a
 * syntax error or each field that is wrong, and each variable that the environment does not have; never a value of it.
 */
export async function readDeclaration(path: string, read: ReadVariable): Promise<Declared> {
  const raw = parseYaml(await readText(path), path);
  if (!validate(raw)) throw invalid(path, (validate.errors ?? []).map(problemOf));
  const wrong = [...sourceProblems(raw), ...nameProblems(raw)];
  if (wrong.length > 0) throw invalid(path, wrong);
  const used = new Map<string, string>();
  const { value, problems } = resolveReferences(raw, name => {
    const found = read(name);
    if (found) used.set(name, found);
    return found;
  });
  if (problems.length > 0) throw invalid(path, problems);
  // Texts may have become empty or too long: the server says so.
  return { raw, resolved: value as Declaration, redact: text => redacted(text, used) };
}

/** The longest first: one may contain another. */
function redacted(text: string, used: ReadonlyMap<string, string>): string {
  const byLength = [...used].sort(([, a], [, b]) => b.length - a.length);
  return byLength.reduce((rest, [name, value]) => rest.replaceAll(value, () => `\${${name}}`), text);
}

async function readText(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > MAX_BYTES) throw new Error("it is larger than 1 MB");
    return await readFile(path, "utf8");
  } catch (error) {
    throw new AppError("invalid", `${path} can't be read: ${(error as Error).message}`, { cause: error });
  }
}

function parseYaml(text: string, path: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    throw invalid(path, [`line ${line}, column ${col}: ${error.message}`]);
  }
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw invalid(path, [(error as Error).message]);
  }
}

function invalid(path: string, problems: string[]): AppError {
  const unique = [...new Set(problems)];
  const more = unique.length > MAX_PROBLEMS ? `; and ${unique.length - MAX_PROBLEMS} more` : "";
  return new AppError("invalid", `${path}: ${unique.slice(0, MAX_PROBLEMS).join("; ")}${more}`);
}

function problemOf({ instancePath, keyword, params, message = "is invalid" }: ErrorObject): string {
  const path = instancePath.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  const at = (field: string) => (path === "" ? field : `${path}.${field}`);
  if (keyword === "required") return `${at(params.missingProperty)}: is required`;
  if (keyword === "additionalProperties") {
    const isName = path === "sources" || path === "webhooks";
    const name = at(params.additionalProperty);
    return isName
      ? `${name}: names are lower-case letters, digits and dashes`
      : `${name}: there is no such field`;
  }
  return `${path === "" ? "the file" : path}: ${message}`;
}

const WAYS = ["file", "url", "component"] as const satisfies (keyof DeclaredSource)[];

function sourceProblems({ sources = {} }: Declaration): string[] {
  return Object.entries(sources)
    .filter(([, source]) => WAYS.filter(way => source[way] !== undefined).length !== 1)
    .map(([name]) => `sources.${name}: needs exactly one of ${WAYS.join(", ")}`);
}

const ID = /^(dc|p|wh|ds|ac|o|u)_/;

/** Subscriptions that name what is not there, what may be two things, or that are declared twice. */
function nameProblems({ sources = {}, webhooks = {}, subscriptions = [] }: Declaration): string[] {
  const seen = new Set<string>();
  return subscriptions.flatMap(({ from, to, channel = "" }, at) => {
    const path = `subscriptions.${at}`;
    const key = JSON.stringify([from, to, channel]);
    const isTwice = seen.has(key);
    seen.add(key);
    const [isSource, isWebhook] = [Object.hasOwn(sources, to), Object.hasOwn(webhooks, to)];
    return [
      ...(ID.test(from) || Object.hasOwn(sources, from) ? [] : [`${path}.from: there is no source ${from}`]),
      ...(ID.test(to) || isSource || isWebhook ? [] : [`${path}.to: there is no webhook or source ${to}`]),
      ...(isSource && isWebhook ? [`${path}.to: ${to} is a source and a webhook: name one otherwise`] : []),
      ...(isTwice ? [`${path}: is declared twice`] : []),
    ];
  });
}
