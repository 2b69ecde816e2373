import type { Command } from "commander";
import { createApiKey, listApiKeys, revokeApiKey } from "../accounts/api-keys.ts";
import type { Run } from "./run.ts";

export function keyCommands(program: Command, run: Run): void {
  const key = program.command("key").description("manage API keys");
  key
    .command("create")
    .description("create another API key for a user; prints {id, api_key}, which can't be shown again")
    .argument("<user id>", "u_…")
    .action((userId: string) => run(platform => createApiKey(platform, userId)));
  key
    .command("list")
    .description("list a user's API keys, without their secrets")
    .argument("<user id>", "u_…")
    .action((userId: string) => run(platform => listApiKeys(platform, userId)));
  key
    .command("revoke")
    .description("revoke an API key at once")
    .argument("<key id>", "key_…")
    .action((keyId: string) => run(platform => revokeApiKey(platform, keyId)));
}
