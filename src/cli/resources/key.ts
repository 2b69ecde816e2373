import { type Command, Option } from "commander";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { KEY_ACCESS, type KeyAccess } from "../../lib/key-access.ts";
import { parseEnd, UsageError } from "../input.ts";
import { note, plain, print, show, timeOf } from "../output.ts";
import { readProfiles } from "../remote/access.ts";
import { accessOptions, choiceOf, type RemoteTools, withRemote } from "../remote/remote-command.ts";
import type { Run } from "../run.ts";
import { firstRows, type JsonOption, jsonOption, type ListOptions, listOptions, printRows } from "./list.ts";
import { EMITTERS, findEmitterId, NamedOption } from "./names.ts";

type ApiKey = Schemas["ApiKey"];

/** What the commands need of this machine: a server, or the stores of an installation. */
export interface KeyTools extends RemoteTools {
  run: Run;
  /** Whether the environment has the settings of the stores. */
  hasStoreSettings: () => Promise<boolean>;
}

interface CreateOptions extends JsonOption {
  name?: string;
  access?: KeyAccess;
  expires?: number;
  emitter?: string[];
  connector?: true;
}

const HELP = `
  headwater key create --name till --access publish --emitter shop --expires 90d
  headwater key create --name "wall display" --access read
  headwater key create --name ChatGPT --connector

Without a user id they are about your own keys, with an API key that may do everything. With one, they are for operators, who have the
settings of the stores; with these in the environment, so is revoke, unless --url, --key or --profile names a server.`;

const operators = () => import("../../accounts/api-keys.ts");

/** Commands that make, list and revoke API keys: the caller's own, or as the operator those of a user. */
export function keyCommands(program: Command, tools: KeyTools): void {
  const key = program
    .command("key")
    .description("make, list and revoke API keys that read, publish or do everything")
    .addHelpText("after", HELP);
  createCommand(key, tools);
  listCommand(key, tools);
  revokeCommand(key, tools);
}

function createCommand(key: Command, tools: KeyTools): void {
  const command = key
    .command("create")
    .description("create an API key and print it: it can't be shown again")
    .argument(
      "[user id]",
      "u_…, for operators: whose key it is, which may do everything; prints {id, api_key}",
    )
    .option("--name <name>", "shown in lists")
    .addOption(
      new Option("--access <access>", "what it may do (default: full, which is everything)").choices(
        KEY_ACCESS,
      ),
    )
    .option("--expires <time>", "when it ends: a date, or a time from now such as 30d", text =>
      parseEnd(text),
    )
    .addOption(
      new NamedOption(
        "--emitter <source or workflow>",
        "with --access publish: the only one to which it may publish; may be repeated",
        EMITTERS,
      ).argParser((text: string, before: string[] = []) => [...before, text]),
    )
    .option(
      "--connector",
      "instead of a key, print an address at which an agent's host connects without one; it reads, unless --access full",
    );
  accessOptions(jsonOption(command)).action((userId: string | undefined, options: CreateOptions) =>
    userId === undefined
      ? createOwn(command, tools, options)
      : asOperator(command, () =>
          tools.run(async platform => (await operators()).createApiKey(platform, userId)),
        ),
  );
}

const createOwn = (command: Command, tools: KeyTools, options: CreateOptions): Promise<void> =>
  withRemote(command, tools, async ({ client }) => {
    const { name, access, expires, emitter, connector } = options;
    if (connector) return await createConnector(client, options);
    const emitterIds =
      emitter && (await Promise.all(emitter.map(idOrName => findEmitterId(client, idOrName))));
    const created = await client.apiKeys.create({
      ...(name !== undefined && { name }),
      ...(access !== undefined && { access }),
      ...(expires !== undefined && { expires_at: expires }),
      ...(emitterIds && { emitter_ids: emitterIds }),
    });
    show(created, options, ({ api_key }) => api_key);
    if (!options.json) note(`${created.id}: ${accessOf(created)}, ${endOf(created)}. It is shown only now.`);
  });

async function createConnector(client: Headwater, options: CreateOptions): Promise<void> {
  const { name, access, expires, emitter } = options;
  if (access === "publish" || emitter) throw new UsageError("--connector: goes with --access read or full");
  const created = await client.apiKeys.createConnectorUrl({
    ...(name !== undefined && { name }),
    ...(access !== undefined && { access }),
    ...(expires !== undefined && { expires_at: expires }),
  });
  show(created, options, ({ url }) => url);
  if (!options.json)
    note(`${created.id}: ${accessOf(created)}, ${endOf(created)}. It is a secret, and shown only now.`);
}

function listCommand(key: Command, tools: KeyTools): void {
  const command = key
    .command("list")
    .description("list API keys, without their secrets")
    .argument("[user id]", "u_…, for operators: whose keys; prints JSON");
  accessOptions(listOptions(command)).action((userId: string | undefined, options: ListOptions) =>
    userId === undefined
      ? withRemote(command, tools, async ({ client }) =>
          printRows(
            await firstRows(client.apiKeys.list(), options.limit),
            { ...options, ids: true },
            COLUMNS,
          ),
        )
      : asOperator(command, () =>
          tools.run(async platform => (await operators()).listApiKeys(platform, userId)),
        ),
  );
}

const COLUMNS = {
  id: ({ id }: ApiKey) => id,
  name: ({ name }: ApiKey) => name,
  begins: ({ prefix }: ApiKey) => prefix,
  may: accessOf,
  ends: endOf,
  used: ({ last_used_at }: ApiKey) => (last_used_at === null ? "never" : timeOf(last_used_at * 1000)),
};

/** `publish to p_1, p_2`. */
function accessOf({ access, emitter_ids }: Pick<ApiKey, "access" | "emitter_ids">): string {
  return emitter_ids === null ? access : `${access} to ${emitter_ids.join(", ")}`;
}

function endOf({ revoked_at, expires_at }: Pick<ApiKey, "revoked_at" | "expires_at">): string {
  if (revoked_at !== null) return `revoked ${timeOf(revoked_at * 1000)}`;
  if (expires_at === null) return "does not expire";
  return `${expires_at * 1000 > Date.now() ? "expires" : "expired"} ${timeOf(expires_at * 1000)}`;
}

function revokeCommand(key: Command, tools: KeyTools): void {
  const command = key
    .command("revoke")
    .description("revoke an API key at once, with the sessions that began with it")
    .argument("<key id>", "key_…");
  accessOptions(command).action(async (keyId: string) => {
    if (!(await namesServer(command, tools))) {
      return await tools.run(async platform => (await operators()).revokeAsOperator(platform, keyId));
    }
    await withRemote(command, tools, async ({ client }) => {
      await client.apiKeys.revoke(keyId);
      print(`${plain(keyId)} is revoked.`);
    });
  });
}

/** Throws UsageError if an option is given that is for the caller's own keys. */
async function asOperator(command: Command, work: () => Promise<void>): Promise<void> {
  const { option, orgId } = choiceOf(command);
  const own = command.options.find(one => command.getOptionValueSource(one.attributeName()) === "cli");
  const flag = own?.attributeName() ?? Object.keys({ ...defined({ ...option, org: orgId }) })[0];
  if (flag !== undefined) throw new UsageError(`--${flag}: goes without a user id`);
  await work();
}

const defined = (values: Readonly<Record<string, string | undefined>>): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** Returns true if a server is named: by an option, or otherwise where there are no settings of stores. */
async function namesServer(command: Command, tools: KeyTools): Promise<boolean> {
  const { option, environment } = choiceOf(command);
  if (Object.keys(defined({ ...option })).length > 0) return true;
  if (await tools.hasStoreSettings()) return false;
  if (environment.url !== undefined || environment.profile !== undefined) return true;
  return (await readProfiles(await tools.configFolder())).current !== null;
}
