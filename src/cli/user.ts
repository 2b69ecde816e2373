import { type Command, Option } from "commander";
import { createUser } from "../accounts/users.ts";
import type { Run } from "./run.ts";

export function userCommands(program: Command, run: Run): void {
  program
    .command("user")
    .description("accounts")
    .command("create")
    .description("create a user; prints {id, api_key}, the key this once")
    .requiredOption("--email <email>", "e-mail address")
    .option("--username <name>", "unique name; made from the e-mail address unless given")
    .addOption(new Option("--plan <plan>", "account plan").choices(["free", "paid"]).default("free"))
    .action((options: { email: string; username?: string; plan: "free" | "paid" }) =>
      run(platform => createUser(platform, options)),
    );
}
