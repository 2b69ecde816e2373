import type { Command } from "commander";
import { print, printJson } from "../output/print.ts";
import { fields, table } from "../output/table.ts";
import { UsageError } from "../usage-error.ts";
import { readProfiles, writeProfiles } from "./profiles.ts";
import { type RemoteTools, remoteAction } from "./remote-command.ts";

export function profileCommands(program: Command, tools: RemoteTools): void {
  const profile = program.command("profile").description("choose between the servers that login kept");
  profile
    .command("list")
    .description("list the profiles, without their keys")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const { current, byName } = await readProfiles(await tools.configFolder());
      const rows = [...byName].map(([name, { url, org_id }]) => ({
        name,
        url,
        org_id: org_id ?? null,
        current: name === current,
      }));
      if (json) return printJson(rows);
      print(
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
    if (options.json) return printJson({ url, profile, org_id: orgId, user });
    const orgs = user.orgs.map(({ id, name }) => `${name} (${id})`).join(", ");
    print(
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
