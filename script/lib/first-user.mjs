import { lastLine, run } from "./commands.mjs";

const EMAIL = "dev@localhost";

/**
 * Creates the development user unless `key`, from an earlier start, still works; it does not if the database was
 * replaced since. `cli` is the command line as `{args}` of node. Returns `{key, created}`, or `{problem}` if the
 * command line failed.
 */
export async function ensureFirstUser({ root, env, url, cli, key, signal }) {
  if (key && (await isAccepted(url, key, signal))) return { key, created: false };
  const args = [...cli.args, "user", "create", "--email", EMAIL];
  const { code, output } = await run(process.execPath, args, { cwd: root, env, signal });
  const found = code === 0 ? findKey(output) : undefined;
  return found ? { key: found, created: true } : { problem: lastLine(output) || `code ${code}` };
}

/** Returns a link that signs a browser in once as the user of this key; undefined if there is none. */
export async function signInLink({ url, key, signal }) {
  if (!key) return undefined;
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/v1/sign_in_links`, { method: "POST", headers, signal });
  const { data } = await response.json();
  return data?.url;
}

async function isAccepted(url, key, signal) {
  const response = await fetch(`${url}/v1/users/me`, { headers: { authorization: `Bearer ${key}` }, signal });
  await response.arrayBuffer();
  return response.status !== 401;
}

/** Finds the API key in the command line's output: in JSON or text, after the words "api key" in any spelling. */
export function findKey(output) {
  return /\bapi[_ -]?key\b["']?\s*(?:is)?\s*[:=]?\s*["']?([\w.~+/=-]{16,})/i.exec(output)?.[1];
}
