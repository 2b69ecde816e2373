import { LIMITS } from "../limits/catalogue.ts";
import type { PropFault } from "./check-value.ts";

/** What templates may name. */
export interface TemplateScope {
  event: unknown;
  context: Record<string, unknown>;
}

/** A value can't be filled in for one event; `path` is the path below the prop. */
export class TemplateError extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/** Of a text: a part of it as it is, or a template, whose path is null if it is not one. */
type Part = string | { text: string; path: string[] | null };

const MAX_TEMPLATES = LIMITS.templates.value;
const MAX_BYTES = LIMITS.propValueBytes.value;

/** `\{{`, a template, or `{{` that nothing closes. A name in brackets may hold braces. */
const TOKEN = /\\\{\{|\{\{((?:"(?:[^"\\]|\\.)*"|[^{}"])*)\}\}|\{\{/g;
/** `.name`, `[0]`, `["any text"]` */
const STEP = /\.([\w$-]+)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/y;
const ROOT = /^(?:steps\.trigger\.)?(event|context)(?![\w$-])/;

const HOW =
  'must be the path of a value, such as {{event.user.name}} or {{context.ts}}; write \\{{ for the characters "{{" themselves';

/** True if a text of the value has `{{`. */
export function hasTemplates(value: unknown): boolean {
  if (typeof value === "string") return value.includes("{{");
  return typeof value === "object" && value !== null && Object.values(value).some(hasTemplates);
}

/** Returns what is wrong with the templates of a configured value (docs/actions.md). */
export function templateFaults(value: unknown): PropFault[] {
  // First, because parsing takes time for each of them.
  if (countOpenings(value) > MAX_TEMPLATES) {
    return [{ path: "", message: `has more than ${MAX_TEMPLATES} templates` }];
  }
  const faults: PropFault[] = [];
  replaceTexts(value, "", (parts, path) => {
    for (const part of parts) {
      if (typeof part === "object" && part.path === null)
        faults.push({ path, message: `${part.text} ${HOW}` });
    }
  });
  return faults;
}

function countOpenings(value: unknown): number {
  if (typeof value === "string") return value.split("{{").length - 1;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, one) => sum + countOpenings(one), 0);
}

/**
 * Returns a configured value with its templates filled in for one event: a text that is only one template becomes the value
 * that it names, of whatever type, and in any other text the values become parts of it: null nothing, a list or an object
 * its JSON. Throws TemplateError if a value is absent, or if all that are filled in have more than 64 KB.
 */
export function fillTemplates(value: unknown, scope: TemplateScope): unknown {
  let left = MAX_BYTES;
  const find = ({ path, text }: Exclude<Part, string>, at: string): unknown => {
    const found = path === null ? undefined : valueAt(scope, path);
    if (found === undefined) throw new TemplateError(at, `${text} is absent from this event`);
    left -= Buffer.byteLength(JSON.stringify(found));
    if (left < 0) throw new TemplateError(at, `has more than ${MAX_BYTES / 1024} KB with ${text}`);
    return found;
  };
  return replaceTexts(value, "", (parts, at) => {
    const [first] = parts;
    if (parts.length === 1 && typeof first === "object") return find(first, at);
    return parts.map(part => (typeof part === "string" ? part : asText(find(part, at)))).join("");
  });
}

function asText(value: unknown): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Follows own properties only, so that no path leads to anything but the event's values; undefined if one is absent. */
function valueAt(scope: TemplateScope, path: string[]): unknown {
  let value: unknown = scope;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

/** Returns the value with each text that has `{{` replaced, at any depth; keys stay as they are. */
function replaceTexts(
  value: unknown,
  path: string,
  replace: (parts: Part[], path: string) => unknown,
): unknown {
  if (typeof value === "string") return value.includes("{{") ? replace(partsOf(value), path) : value;
  if (Array.isArray(value)) return value.map((one, i) => replaceTexts(one, `${path}[${i}]`, replace));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => {
    return [key, replaceTexts(one, `${path}.${key}`, replace)] as const;
  });
  return Object.fromEntries(entries);
}

function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [token, inside] = match;
    if (match.index > from) parts.push(text.slice(from, match.index));
    if (token === "\\{{") parts.push("{{");
    else parts.push({ text: token, path: inside === undefined ? null : pathOf(inside.trim()) });
    from = match.index + token.length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** Returns the steps of a path, `event` or `context` first; null if it is not a path. */
function pathOf(text: string): string[] | null {
  const root = ROOT.exec(text);
  if (!root) return null;
  const steps = [root[1] as string];
  const step = new RegExp(STEP);
  step.lastIndex = root[0].length;
  while (step.lastIndex < text.length) {
    const found = step.exec(text);
    if (!found) return null;
    const [, name, index, quoted] = found;
    const key = name ?? index ?? parseText(quoted as string);
    if (key === null) return null;
    steps.push(key);
  }
  return steps;
}

function parseText(quoted: string): string | null {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return null;
  }
}
