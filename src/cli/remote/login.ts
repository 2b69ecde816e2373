import { hostname } from "node:os";
import type { Command } from "commander";
import { Headwater, type Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { isLoopback } from "../../lib/hosts.ts";
import { askSecret, UsageError } from "../input.ts";
import { note, print } from "../output.ts";
import {
  checkProfileName,
  checkServerUrl,
  type Profile,
  type Profiles,
  readProfiles,
  writeProfiles,
} from "./access.ts";
import { clientFor, explain, givenTo, type RemoteTools, USER_AGENT } from "./remote-command.ts";

const HELP = `
Asks for an API key, which the dashboard makes under "API keys", or for a sign-in link. With a link, which works once and
for ten minutes, a key is made for this machine; \`headwater logout\` revokes it. Without a terminal, the key or the link is
read from the standard input. What is kept can be read by you only.

  headwater login https://headwater.example.com
  headwater login "https://headwater.example.com/dashboard/sign-in#link=hwl_…"
  headwater login https://headwater.example.com --profile production < key.txt`;

interface Options {
  profile?: string | undefined;
  org?: string | undefined;
}

/** What a person signs in with. */
type Proof = { apiKey: string } | { link: SignInLink };

export function loginCommand(program: Command, tools: RemoteTools): void {
  program
    .command("login")
    .description("keep a server and an API key for it as a profile, and use it from now on")
    .argument("[url]", "address of the server, or a sign-in link (default: the current profile's server)")
    .option("--profile <name>", "the profile's name (default: the server's host name)")
    .option("--org <id>", "o_…: the organization whose things are meant from now on")
    .addHelpText("after", HELP)
    .action((url: string | undefined, _options: Options, self: Command) =>
      login(tools, url, { profile: givenTo(self, "profile"), org: givenTo(self, "org") }),
    );
}

async function login(tools: RemoteTools, given: string | undefined, options: Options): Promise<void> {
  const folder = await tools.configFolder();
  const profiles = await readProfiles(folder);
  const name = options.profile === undefined ? undefined : checkProfileName(options.profile);
  const link = given === undefined ? null : parseLink(given);
  const url = link?.url ?? (await serverOf(given, name, profiles, tools));
  const proof: Proof = link ? { link } : await askProof(url);
  warnIfReadable(url);
  const { profile, username } = await signIn(url, proof, options.org).catch(error => {
    throw explain(error, url);
  });
  const kept = name ?? nameOf(url);
  profiles.byName.set(kept, profile);
  await writeProfiles(folder, { current: kept, byName: profiles.byName });
  print(`Signed in to ${url} as ${username}. Profile ${kept} is used from now on.`);
}

/** Without an address, that of the profile, or of this project's start. */
async function serverOf(
  given: string | undefined,
  name: string | undefined,
  { current, byName }: Profiles,
  tools: RemoteTools,
): Promise<string> {
  const url = given ?? byName.get(name ?? current ?? "")?.url ?? (await tools.developmentStart()).url;
  if (url) return checkServerUrl(url, "url");
  throw new UsageError("url: which server? For example: headwater login https://headwater.example.com");
}

async function askProof(url: string): Promise<Proof> {
  const question = `API key (${url}/dashboard/keys) or sign-in link, not shown: `;
  const text = await askSecret(question, "API key (hw_…) or sign-in link");
  const link = parseLink(text);
  if (!link) return { apiKey: text };
  if (link.url === url) return { link };
  throw new AppError("invalid", `the link is one of ${link.url}, and not of ${url}`);
}

/** Says that a key is going to be sent in plain text, unless the server is this machine. */
export function warnIfReadable(url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || isLoopback(hostname)) return;
  note(`Warning: ${url} is not https: everything on the way can read the key.`);
}

async function signIn(
  url: string,
  proof: Proof,
  orgId: string | undefined,
): Promise<{ profile: Profile; username: string }> {
  const made = "link" in proof ? await exchangeLink(proof.link) : null;
  const apiKey = made?.api_key ?? ("apiKey" in proof ? proof.apiKey : "");
  const { username, orgs } = await clientFor({ url, apiKey }).me();
  if (orgId !== undefined && !orgs.some(({ id }) => id === orgId)) {
    throw new UsageError(`--org: ${username} is not a member of ${orgId}`);
  }
  const profile: Profile = {
    url,
    api_key: apiKey,
    ...(made && { key_id: made.id }),
    ...(orgId !== undefined && { org_id: orgId }),
  };
  return { profile, username };
}

/** `headwater.example.com`, or `127.0.0.1-3000` with a port. */
const nameOf = (url: string): string =>
  checkProfileName(
    new URL(url).host
      .replaceAll(/[^A-Za-z0-9.]+/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "")
      .slice(0, 64),
  );

export function logoutCommand(program: Command, tools: RemoteTools): void {
  program
    .command("logout")
    .description("delete a profile, and revoke its key if headwater login made it")
    .option("--profile <name>", "which one (default: the current one)")
    .action((_options: object, self: Command) => logout(tools, givenTo(self, "profile")));
}

async function logout(tools: RemoteTools, given: string | undefined): Promise<void> {
  const folder = await tools.configFolder();
  const { current, byName } = await readProfiles(folder);
  const name = given ?? current;
  if (name === null) throw new UsageError("--profile: no profile is current; headwater profile list");
  const profile = byName.get(name);
  if (!profile) throw new UsageError(`--profile: there is no ${name}`);
  byName.delete(name);
  await writeProfiles(folder, { current: current === name ? null : current, byName });
  print(`Deleted profile ${name}.`);
  await revoke(profile);
}

/** A key that was pasted may be in use elsewhere, and stays. */
async function revoke({ url, api_key, key_id }: Profile): Promise<void> {
  if (key_id === undefined) return note("Its API key stays valid: it was not made by headwater login.");
  try {
    await clientFor({ url, apiKey: api_key }).apiKeys.revoke(key_id);
  } catch (error) {
    note(`Its API key ${key_id} could not be revoked (${(explain(error, url) as Error).message}).`);
  }
}

/** What a sign-in link consists of (docs/decisions/0024-sessions.md). */
interface SignInLink {
  /** Of the server. */
  url: string;
  token: string;
}

/** Returns the parts of a sign-in link, or null for another text. */
function parseLink(text: string): SignInLink | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const token = new URLSearchParams(url.hash.slice(1)).get("link");
  if (!token || !/^https?:$/.test(url.protocol)) return null;
  return { url: `${url.origin}${url.pathname.replace(/\/dashboard\/sign-in\/?$/, "")}`, token };
}

/**
 * Uses a sign-in link up and returns an API key for this machine: the link starts a session, which makes the key and ends.
 * Throws the client's errors, and AppError `invalid` if what responds sets no session.
 */
async function exchangeLink({ url, token }: SignInLink): Promise<Schemas["CreatedApiKey"]> {
  let cookie: string | undefined;
  const client = new Headwater({
    url,
    // A link works once.
    maxRetries: 0,
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("user-agent", USER_AGENT);
      headers.set("origin", new URL(url).origin);
      if (cookie !== undefined) headers.set("cookie", cookie);
      const response = await fetch(input, { ...init, headers });
      cookie ??= response.headers.getSetCookie()[0]?.split(";")[0];
      return response;
    },
  });
  await client.request("post", "/sessions", { body: { link: token } });
  if (cookie === undefined) throw new AppError("invalid", `${url} started no session: is it a Headwater?`);
  try {
    return await client.apiKeys.create({ name: `headwater on ${hostname()}`.slice(0, 128) });
  } finally {
    // It would end by itself.
    await client.request("delete", "/sessions/current", {}).catch(() => undefined);
  }
}
