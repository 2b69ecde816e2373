import type { Command } from "commander";
import { AppError } from "../../lib/errors.ts";
import { version } from "../../lib/versions.ts";
import { UsageError } from "../input.ts";
import { fields, print, show, table } from "../output.ts";
import { readProfiles, writeProfiles } from "./access.ts";
import {
  accessOptions,
  chooseAccess,
  clientFor,
  explain,
  type RemoteTools,
  remoteAction,
} from "./remote-command.ts";

export function profileCommands(program: Command, tools: RemoteTools): void {
  const profile = program.command("profile").description("choose between the servers that login kept");
  profile
    .command("list")
    .description("list the profiles, without their keys")
    .option("--json", "print JSON")
    .action(async (options: { json?: boolean }) => {
      const { current, byName } = await readProfiles(await tools.configFolder());
      const rows = [...byName].map(([name, { url, org_id }]) => ({
        name,
        url,
        org_id: org_id ?? null,
        current: name === current,
      }));
      show(rows, options, () =>
        table(
          ["", "name", "url", "org"],
          rows.map(row => [row.current ? "*" : " ", row.name, row.url, row.org_id]),
        ),
      );
    });
  profile
    .command("use")
    .description("use a profile from now on")
    .argument("<name>", "as headwater profile list shows it")
    .action(async (name: string) => {
      const folder = await tools.configFolder();
      const { byName } = await readProfiles(folder);
      if (!byName.has(name)) {
        throw new UsageError(`name: there is no profile ${name}; headwater profile list shows them`);
      }
      await writeProfiles(folder, { current: name, byName });
      print(`Profile ${name} is used from now on.`);
    });
}

export function whoamiCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("whoami")
    .description("show which server and which user the commands use")
    .option("--json", "print JSON");
  remoteAction<{ json?: boolean }>(command, tools, async ({ client, access, options }) => {
    const user = await client.me();
    const { url, profile, orgId = null } = access;
    const orgs = user.orgs.map(({ id, name }) => `${name} (${id})`).join(", ");
    show({ url, profile, org_id: orgId, user }, options, () =>
      fields({
        server: url,
        profile,
        user: `${user.username} (${user.id})`,
        email: user.email,
        organizations: orgs,
        acts: orgId === null ? "as the user" : `in ${orgId}`,
      }),
    );
  });
}

const HELP = `
Open the link within ten minutes; it works once. Beside an \`npm start\`, no settings are needed.`;

export function dashboardCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("dashboard")
    .description("print a link that signs a browser in to the dashboard once, as the user of the API key")
    .addHelpText("after", HELP);
  remoteAction(command, tools, async ({ client }) => {
    print((await client.request("post", "/sign_in_links", {})).url);
  });
}

/** Somebody waits for one line. */
const TIMEOUT_MS = 5000;

/** `headwater version`, which `headwater --version` means. */
export function versionCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("version")
    .description("print this version, and that of the server if there is one");
  accessOptions(command).action(async (_options, self: Command) => {
    print(version);
    const access = await chooseAccess(self, tools).catch((error: unknown) => {
      if (error instanceof AppError) return null;
      throw error;
    });
    if (!access) return;
    try {
      const document = (await clientFor(access).request(
        "get",
        "/openapi.json",
        {},
        { timeoutMs: TIMEOUT_MS, maxRetries: 0 },
      )) as { info?: { version?: string } };
      print(`server ${document?.info?.version ?? "unknown"} (${access.url})`);
    } catch (error) {
      const explained = explain(error, access.url);
      if (!(explained instanceof AppError)) throw explained;
      // What was asked for is printed: a stopped server does not make this fail.
      process.stderr.write(`${explained.message}\n`);
    }
  });
}
