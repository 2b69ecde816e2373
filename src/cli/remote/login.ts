import type { Command } from "commander";
import { AppError } from "../../lib/errors.ts";
import { isLoopback } from "../../lib/is-loopback.ts";
import { note, print } from "../output/print.ts";
import { UsageError } from "../usage-error.ts";
import { checkServerUrl } from "./access.ts";
import { askSecret } from "./ask-secret.ts";
import { clientFor } from "./client.ts";
import { exchangeLink, parseLink, type SignInLink } from "./exchange-link.ts";
import { explain } from "./explain.ts";
import { checkProfileName, type Profile, type Profiles, readProfiles, writeProfiles } from "./profiles.ts";
import { givenTo, type RemoteTools } from "./remote-command.ts";

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

function warnIfReadable(url: string): void {
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
