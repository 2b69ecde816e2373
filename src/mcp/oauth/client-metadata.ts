import { isObject } from "../../lib/json.ts";

/** What is kept of what a client says of itself; all else is left out, as RFC 7591 lets a server do. */
const KEPT = [
  "client_id",
  "client_name",
  "redirect_uris",
  "grant_types",
  "response_types",
  "token_endpoint_auth_method",
];

/**
 * Returns what is kept of a client's metadata, or a sentence that says why it can't be used; the library checks the rest. Every client is
 * a public one that PKCE protects, and may use the redirects of programs on a person's machine.
 */
export function clientMetadata(given: unknown): Record<string, unknown> | string {
  if (!isObject(given)) return "the metadata of a client is a JSON object";
  const kept = Object.fromEntries(
    KEPT.flatMap(name => (given[name] === undefined ? [] : [[name, given[name]]])),
  );
  const { redirect_uris: uris } = kept;
  if (!Array.isArray(uris) || !uris.every(uri => typeof uri === "string" && isRedirect(uri))) {
    return "redirect_uris are addresses: https, http on the user's own machine, or of a program's own scheme";
  }
  return {
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    ...kept,
    application_type: "native",
  };
}

/** Schemes by which a browser would do something else than to go to a program or a site. */
const UNSAFE = /^(javascript|vbscript|data|blob|file|about|view-source|filesystem|ws|wss|ftp):$/;

function isRedirect(uri: string): boolean {
  if (!URL.canParse(uri)) return false;
  const { protocol, username, password } = new URL(uri);
  return !UNSAFE.test(protocol) && username === "" && password === "";
}

/** The longest name that is shown. */
const NAME_CHARS = 60;

/** Returns a client's own name as people may see it: without what could change how the text around it reads. */
export const shownName = (name: string | undefined): string =>
  (name ?? "")
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ")
    .trim()
    .slice(0, NAME_CHARS) || "An agent without a name";

/** Returns where a code goes, as people recognize it: a host, or the scheme of a program. */
export function shownTarget(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === "https:" || protocol === "http:" ? host : protocol;
}
