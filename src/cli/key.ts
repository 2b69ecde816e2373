import type { Command } from "commander";
import type { Run } from "./run.ts";

const apiKeys = () => import("../accounts/api-keys.ts");

export function keyCommands(program: Command, run: Run): void {
  const key = program.command("key").description("manage API keys");
  key
    .command("create")
    .description("create another API key for a user; prints {id, api_key}, which can't be shown again")
    .argument("<user id>", "u_…")
    .action((userId: string) => run(async platform => (await apiKeys()).createApiKey(platform, userId)));
  key
    .command("list")
    .description("list a user's API keys, without their secrets")
    .argument("<user id>", "u_…")
    .action((userId: string) => run(async platform => (await apiKeys()).listApiKeys(platform, userId)));
  key
    .command("revoke")
    .description("revoke an API key at once")
    .argument("<key id>", "key_…")
    .action((keyId: string) => run(async platform => (await apiKeys()).revokeApiKey(platform, keyId)));
}
