/** Returns the value of a variable of the environment. */
export type ReadVariable = (name: string) => string | undefined;

/** `${NAME}` is a variable; `$${` is the text `${`. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Values with their references to the environment filled in, and the paths of those that could not be. */
export interface Resolved {
  value: unknown;
  /** `webhooks.inbox.url: the environment has no INBOX_URL` */
  problems: string[];
}

/** Fills in `${NAME}` in every text below `value`, but not in the names of fields. `read` returns variables. */
export function resolveReferences(value: unknown, read: ReadVariable, path = ""): Resolved {
  if (typeof value === "string") return resolveText(value, read, path);
  if (typeof value !== "object" || value === null) return { value, problems: [] };
  const below = Object.entries(value).map(
    ([name, one]) => [name, resolveReferences(one, read, path === "" ? name : `${path}.${name}`)] as const,
  );
  const problems = below.flatMap(([, resolved]) => resolved.problems);
  const entries = below.map(([name, resolved]) => [name, resolved.value] as const);
  return {
    value: Array.isArray(value) ? entries.map(([, one]) => one) : Object.fromEntries(entries),
    problems,
  };
}

function resolveText(text: string, read: ReadVariable, path: string): Resolved {
  const problems: string[] = [];
  const value = text.replace(REFERENCE, (whole, name: string | undefined) => {
    if (name === undefined) return whole.slice(1);
    const found = read(name);
    if (found === undefined) problems.push(`${path}: the environment has no ${name}`);
    return found ?? "";
  });
  return { value, problems };
}

/** Whether a value, as the file has it, contains something from the environment: then it may be a secret. */
export const hasReference = (raw: unknown): boolean =>
  [...(JSON.stringify(raw) ?? "").matchAll(REFERENCE)].some(([, name]) => name !== undefined);
