/** Quotes a text for a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Where the API is, for commands that readers copy. */
export const apiUrl = (path: string): string => `${location.origin}/v1${path}`;

interface Command {
  method?: string;
  body?: unknown;
}

/** A curl command for a route of the API; the key is a variable, so that no history has it. */
export function apiCommand(path: string, { method, body }: Command = {}): string {
  const parts = [`curl -sS ${quoted(apiUrl(path))}`, `-H "Authorization: Bearer $HEADWATER_API_KEY"`];
  if (method && !(method === "POST" && body !== undefined))
    parts.splice(0, 1, `curl -sS -X ${method} ${quoted(apiUrl(path))}`);
  if (body !== undefined) {
    parts.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`);
  }
  return parts.join(" \\\n  ");
}

/** A curl command that sends JSON to an endpoint, without a key. */
export const postCommand = (url: string, body: unknown): string =>
  `curl -sS ${quoted(url)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(body))}`;
