import { type Command, Option } from "commander";
import type { Run } from "./run.ts";

export function userCommands(program: Command, run: Run): void {
  program
    .command("user")
    .description("manage user accounts")
    .command("create")
    .description("create a user with an API key; prints {id, api_key}, which can't be shown again")
    .requiredOption("--email <email>", "email address")
    .option("--username <name>", "unique name (default: derived from the email address)")
    .addOption(new Option("--plan <plan>", "account plan").choices(["free", "paid"]).default("free"))
    .action((options: { email: string; username?: string; plan: "free" | "paid" }) =>
      run(async platform => {
        const { createUser } = await import("../accounts/users.ts");
        return createUser(platform, options);
      }),
    );
}
