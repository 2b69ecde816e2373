import type { Command } from "commander";
import { createApiKey, listApiKeys, revokeApiKey } from "../accounts/api-keys.ts";
import type { Run } from "./run.ts";

export function keyCommands(program: Command, run: Run): void {
  const key = program.command("key").description("API keys");
  key
    .command("create")
    .description("create another key of a user; prints {id, api_key}, the key this once")
    .argument("<user id>", "u_…")
    .action((userId: string) => run(platform => createApiKey(platform, userId)));
  key
    .command("list")
    .description("list a user's keys, without the keys themselves")
    .argument("<user id>", "u_…")
    .action((userId: string) => run(platform => listApiKeys(platform, userId)));
  key
    .command("revoke")
    .description("end a key at once")
    .argument("<key id>", "key_…")
    .action((keyId: string) => run(platform => revokeApiKey(platform, keyId)));
}
