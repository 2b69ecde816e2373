import type { Command } from "commander";
import { note, print } from "../output/print.ts";
import { UsageError } from "../usage-error.ts";
import { clientFor } from "./client.ts";
import { explain } from "./explain.ts";
import { type Profile, readProfiles, writeProfiles } from "./profiles.ts";
import { givenTo, type RemoteTools } from "./remote-command.ts";

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
    await clientFor({ url, apiKey: api_key }).request("delete", "/api_keys/{id}", { params: { id: key_id } });
  } catch (error) {
    note(`Its API key ${key_id} could not be revoked (${(explain(error, url) as Error).message}).`);
  }
}
