import { readFile, stat } from "node:fs/promises";
import { text as textOf } from "node:stream/consumers";
import type { ErrorObject, ValidateFunction } from "ajv";
import { LineCounter, parseDocument } from "yaml";
import { AppError } from "../../lib/errors.ts";
import { newAjv, wordsOfPattern } from "../../lib/schemas.ts";
import { connectionProblems } from "./props.ts";
import {
  ACCOUNT,
  Declaration,
  type DeclaredComponent,
  type DeclaredKind,
  EMITTERS,
  KIND_NAMES,
  KINDS,
  NAMED,
  type Named,
  type ReadVariable,
  resolveReferences,
} from "./schema.ts";

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

const ajv = newAjv({ allErrors: true, strict: false });
const validate = ajv.compile<Declaration>(Declaration);

/**
 * Reads the file of `headwater apply` and checks it. Throws AppError `invalid` in one line with the file, the line of a
 * syntax error or each field that is wrong, and each variable that the environment does not have; never a value of it.
 */
export async function readDeclaration(path: string, read: ReadVariable): Promise<Declared> {
  const raw = parseYaml(await readText(path), path);
  if (!validate(raw))
    throw invalid(
      path,
      (validate.errors ?? []).map(error => problemOf(error)),
    );
  const wrong = [...wayProblems(raw), ...nameProblems(raw), ...connectionProblems(raw)];
  if (wrong.length > 0) throw invalid(path, wrong);
  const used = new Map<string, string>();
  const { value, problems } = resolveReferences(raw, name => {
    const found = read(name);
    if (found) used.set(name, found);
    return found;
  });
  if (problems.length > 0) throw invalid(path, problems);
  const resolved = value as Declaration;
  const settings = settingProblems(resolved);
  if (settings.length > 0) throw invalid(path, settings);
  // Other texts may have become empty or too long: the server says so.
  return { raw, resolved, redact: text => redacted(text, used) };
}

/** The longest first: one may contain another. */
function redacted(text: string, used: ReadonlyMap<string, string>): string {
  const byLength = [...used].sort(([, a], [, b]) => b.length - a.length);
  return byLength.reduce((rest, [name, value]) => rest.replaceAll(value, () => `\${${name}}`), text);
}

async function readText(path: string): Promise<string> {
  try {
    if (path === "-") return withinBound(await textOf(process.stdin));
    if ((await stat(path)).size > MAX_BYTES) throw new Error("it is larger than 1 MB");
    return await readFile(path, "utf8");
  } catch (error) {
    throw new AppError("invalid", `${path} can't be read: ${(error as Error).message}`, { cause: error });
  }
}

function withinBound(text: string): string {
  if (Buffer.byteLength(text) > MAX_BYTES) throw new Error("it is larger than 1 MB");
  return text;
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

/** Says what is wrong with a field; `below` is where the value that was checked is in the file. */
function problemOf(
  { instancePath, keyword, params, message = "is invalid" }: ErrorObject,
  below: string[] = [],
): string {
  const parts = instancePath.split("/").slice(1);
  const names = parts.map(part => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const path = [...below, ...names].join(".");
  const at = (field: string) => (path === "" ? field : `${path}.${field}`);
  if (keyword === "required") return `${at(params.missingProperty)}: is required`;
  if (keyword === "additionalProperties") {
    const name = at(params.additionalProperty);
    return path === "connections" || NAMED.includes(path as Named)
      ? `${name}: names are lower-case letters, digits and dashes`
      : `${name}: there is no such field`;
  }
  const said = keyword === "pattern" ? wordsOfPattern(params.pattern) : message;
  return `${path === "" ? "the file" : path}: ${said}`;
}

const WAYS = ["file", "url", "component"] as const satisfies (keyof DeclaredComponent)[];

/** Things that name no component or no kind, or several. */
function wayProblems({ sources, actions, destinations }: Declaration): string[] {
  const problems = <Way extends string>(
    part: Named,
    declared: Record<string, { [way in Way]?: unknown }> = {},
    ways: readonly Way[],
  ) =>
    Object.entries(declared)
      .filter(([, thing]) => ways.filter(way => thing[way] !== undefined).length !== 1)
      .map(([name]) => `${part}.${name}: needs exactly one of ${ways.join(", ")}`);
  return [
    ...problems("sources", sources, WAYS),
    ...problems("actions", actions, WAYS),
    ...problems("destinations", destinations, KIND_NAMES),
  ];
}

const checkSettings = Object.fromEntries(
  KIND_NAMES.map(kind => [kind, ajv.compile(KINDS[kind].given)]),
) as Record<DeclaredKind, ValidateFunction>;

/** Settings of destinations, as the server checks them. */
function settingProblems({ destinations = {} }: Declaration): string[] {
  return Object.entries(destinations).flatMap(([name, destination]) =>
    KIND_NAMES.filter(kind => destination[kind] !== undefined).flatMap(kind => {
      const check = checkSettings[kind];
      const isRight = check(destination[kind]);
      return isRight ? [] : (check.errors ?? []).map(error => problemOf(error, ["destinations", name, kind]));
    }),
  );
}

const EMITTER_ID = /^(dc|p|o|u)_/;
const LISTENER_ID = /^(dc|p|wh|ds|ac)_/;

/** Subscriptions that name what is not there, what may be two things, or that are declared twice. */
function nameProblems(declaration: Declaration): string[] {
  const seen = new Set<string>();
  return (declaration.subscriptions ?? []).flatMap(({ from, to, channel = "", function: code }, at) => {
    const path = `subscriptions.${at}`;
    const key = JSON.stringify([from, to, channel]);
    const isTwice = seen.has(key);
    seen.add(key);
    const partsWith = <Part extends Named>(name: string, among: readonly Part[]) =>
      among.filter(part => Object.hasOwn(declaration[part] ?? {}, name));
    const [emitters, listeners] = [partsWith(from, EMITTERS), partsWith(to, NAMED)];
    const isHandedOver = EMITTERS.some(part => listeners.includes(part)) || /^(dc|p)_/.test(to);
    return [
      ...(from === ACCOUNT || EMITTER_ID.test(from) || emitters.length > 0
        ? []
        : [`${path}.from: there is no source or workflow ${from}; the account itself is ${ACCOUNT}`]),
      ...(LISTENER_ID.test(to) || listeners.length > 0
        ? []
        : [`${path}.to: there is no webhook, destination, action, source or workflow ${to}`]),
      ...severalProblem(`${path}.from`, from, emitters),
      ...severalProblem(`${path}.to`, to, listeners),
      ...(code !== undefined && isHandedOver
        ? [`${path}.function: a source or a workflow receives events as they are`]
        : []),
      ...(isTwice ? [`${path}: is declared twice`] : []),
    ];
  });
}

function severalProblem(path: string, name: string, parts: readonly Named[]): string[] {
  if (parts.length < 2) return [];
  const kinds = parts.map(part => `${part === "actions" ? "an" : "a"} ${part.slice(0, -1)}`);
  return [`${path}: ${name} is ${kinds.join(" and ")}: name one otherwise`];
}
