import type { Command } from "commander";
import type { Run } from "../run.ts";

export function secretsCommands(program: Command, run: Run): void {
  const secrets = program.command("secrets").description("manage how secrets are stored");
  secrets
    .command("reseal")
    .description(
      "encrypt stored secrets with the first key of SECRETS_KEY, so that the others can be removed; prints {sources, webhooks, unreadable}",
    )
    .action(() => run(async platform => (await import("./reseal.ts")).reseal(platform)));
}
