import { type Command, Option } from "commander";
import type { Run } from "./run.ts";

export function userCommands(program: Command, run: Run): void {
  const user = program.command("user").description("manage user accounts");
  user
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
  user
    .command("sign-out")
    .description(
      "end every session of a user, and the API keys made in a provider's; others stay valid; prints the counts",
    )
    .argument("<user id>", "u_…")
    .action((userId: string) =>
      run(async platform => {
        const { endAllSessions } = await import("../accounts/sessions/end-all.ts");
        return endAllSessions(platform, userId);
      }),
    );
}
