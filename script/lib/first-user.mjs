import { lastLine, run } from "./commands.mjs";

const EMAIL = "dev@localhost";

/**
 * Makes the development user once and gives `{key, created}`, or `{problem}` when the command line refused.
 * A remembered key is tried first: it is worth nothing when the database is another one by now.
 */
export async function ensureFirstUser({ root, env, url, key, signal }) {
  if (key && (await isAccepted(url, key, signal))) return { key, created: false };
  const main = `${root}/dist/src/cli/main.js`;
  const { code, output } = await run(process.execPath, [main, "user", "create", "--email", EMAIL], {
    cwd: root,
    env,
    signal,
  });
  const found = code === 0 ? findKey(output) : undefined;
  return found ? { key: found, created: true } : { problem: lastLine(output) || `code ${code}` };
}

async function isAccepted(url, key, signal) {
  const response = await fetch(`${url}/v1/users/me`, { headers: { authorization: `Bearer ${key}` }, signal });
  await response.arrayBuffer();
  return response.status !== 401;
}

/** The API key in what the command line printed: in JSON or text, after the words "api key" in any spelling. */
export function findKey(output) {
  return /\bapi[_ -]?key\b["']?\s*(?:is)?\s*[:=]?\s*["']?([\w.~+/=-]{16,})/i.exec(output)?.[1];
}
