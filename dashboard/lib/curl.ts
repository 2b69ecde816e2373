import { orgId } from "./shown-account";

/** Quotes a text for a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** What is made belongs to the caller, unless the request names an organization. */
const MAKES = /^\/(components|connections|destinations|sources|subscriptions|webhooks)(\?|$)/;

/** Where the API is, for commands that readers copy: in the account that is shown. */
export function apiUrl(path: string): string {
  const url = `${location.origin}/v1${path}`;
  if (orgId.value === null || !MAKES.test(path)) return url;
  return `${url}${path.includes("?") ? "&" : "?"}org_id=${orgId.value}`;
}

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

/** A command that sends a request to a source as the provider of this preset signs it; it asks for the secret. */
export const signedCommand = (sourceId: string, preset: string): string =>
  `headwater source send ${sourceId} --signed ${preset}`;

/** A curl command that sends JSON to an endpoint, without a key. */
export const postCommand = (url: string, body: unknown): string =>
  `curl -sS ${quoted(url)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(body))}`;
