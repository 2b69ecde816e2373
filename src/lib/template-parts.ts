/** Of a text: a part of it as it is, or a template, whose path is null if it is not one. */
export type TemplatePart = string | Template;

/** `{{…}}` in a text. */
export interface Template {
  text: string;
  /** The steps to the value that it names, a root first. */
  path: string[] | null;
}

/** `\{{`, a template, or `{{` that nothing closes. A name in brackets may hold braces. */
const TOKEN = /\\\{\{|\{\{((?:"(?:[^"\\]|\\.)*"|[^{}"])*)\}\}|\{\{/g;
/** `.name`, `[0]`, `["any text"]` */
const STEP = /\.([\w$-]+)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/y;
const ROOT = /^(?:steps\.trigger\.)?(\w+)(?![\w$-])/;

/** Divides a text at its templates, whose paths begin with one of these roots. `\{{` is the text `{{`. */
export function templateParts(text: string, roots: readonly string[]): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [token, inside] = match;
    if (match.index > from) parts.push(text.slice(from, match.index));
    if (token === "\\{{") parts.push("{{");
    else parts.push({ text: token, path: inside === undefined ? null : pathOf(inside.trim(), roots) });
    from = match.index + token.length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** Follows what is in a value's JSON only, so that no path leads to anything else; undefined if it is absent. */
export function valueAt(scope: unknown, path: readonly string[]): unknown {
  let value: unknown = scope;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    if (Array.isArray(value) && step === "length") return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

/** Returns the steps of a path, one of the roots first; null if it is not a path. */
function pathOf(text: string, roots: readonly string[]): string[] | null {
  const root = ROOT.exec(text);
  if (!root || !roots.includes(root[1] as string)) return null;
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
