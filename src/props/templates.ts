import { type Template, type TemplatePart, templateParts, valueAt } from "../lib/template-parts.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { PropFault } from "./check-value.ts";

/** What templates may name, by the first name of their path. */
export type TemplateScope = Record<string, unknown>;

/** Which templates a text may have. */
export interface TemplateRules {
  /** First names of paths. */
  roots: readonly string[];
  /** What a template must be, for an error. */
  how: string;
  /** Of all values that are filled in, as JSON. */
  maxBytes: number;
}

/** A value can't be filled in for one event; `path` is the path below the prop. */
export class TemplateError extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

const MAX_TEMPLATES = LIMITS.templates.value;

/** Templates in the props of actions (docs/actions.md). */
const OF_ACTIONS: TemplateRules = {
  roots: ["event", "context"],
  how: "must be the path of a value, such as {{event.user.name}} or {{context.ts}}",
  maxBytes: LIMITS.propValueBytes.value,
};

const ESCAPE = 'write \\{{ for the characters "{{" themselves';

/** True if a text of the value has `{{`. */
export function hasTemplates(value: unknown): boolean {
  if (typeof value === "string") return value.includes("{{");
  return typeof value === "object" && value !== null && Object.values(value).some(hasTemplates);
}

/** Returns what is wrong with the templates of a configured value (docs/actions.md). */
export function templateFaults(value: unknown, rules: TemplateRules = OF_ACTIONS): PropFault[] {
  // First, because parsing takes time for each of them.
  if (countOpenings(value) > MAX_TEMPLATES) {
    return [{ path: "", message: `has more than ${MAX_TEMPLATES} templates` }];
  }
  const faults: PropFault[] = [];
  replaceTexts(
    value,
    "",
    (parts, path) => {
      for (const part of parts) {
        if (typeof part === "object" && part.path === null)
          faults.push({ path, message: `${part.text} ${rules.how}; ${ESCAPE}` });
      }
    },
    rules,
  );
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
 * its JSON. Throws TemplateError if a value is absent, or if all that are filled in have more bytes than `rules` permit.
 */
export function fillTemplates(
  value: unknown,
  scope: TemplateScope,
  rules: TemplateRules = OF_ACTIONS,
): unknown {
  let left = rules.maxBytes;
  const find = ({ path, text }: Template, at: string): unknown => {
    const found = path === null ? undefined : valueAt(scope, path);
    if (found === undefined) throw new TemplateError(at, `${text} is absent from this event`);
    left -= Buffer.byteLength(JSON.stringify(found));
    if (left < 0) throw new TemplateError(at, `has more than ${rules.maxBytes / 1024} KB with ${text}`);
    return found;
  };
  return replaceTexts(
    value,
    "",
    (parts, at) => {
      const [first] = parts;
      if (parts.length === 1 && typeof first === "object") return find(first, at);
      return parts.map(part => (typeof part === "string" ? part : asText(find(part, at)))).join("");
    },
    rules,
  );
}

function asText(value: unknown): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Returns the value with each text that has `{{` replaced, at any depth; keys stay as they are. */
function replaceTexts(
  value: unknown,
  path: string,
  replace: (parts: TemplatePart[], path: string) => unknown,
  rules: TemplateRules,
): unknown {
  if (typeof value === "string")
    return value.includes("{{") ? replace(templateParts(value, rules.roots), path) : value;
  if (Array.isArray(value)) return value.map((one, i) => replaceTexts(one, `${path}[${i}]`, replace, rules));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => {
    return [key, replaceTexts(one, `${path}.${key}`, replace, rules)] as const;
  });
  return Object.fromEntries(entries);
}
