import type { Command } from "commander";
import { addMember, createOrganization } from "../accounts/organizations.ts";
import type { Run } from "./run.ts";

export function organizationCommands(program: Command, run: Run): void {
  const org = program.command("org").description("manage organizations");
  org
    .command("create")
    .description("create an organization; prints {id}")
    .requiredOption("--name <name>", "display name")
    .requiredOption("--owner <user id>", "u_…, its first member")
    .action((options: { name: string; owner: string }) =>
      run(platform => createOrganization(platform, { name: options.name, ownerId: options.owner })),
    );
  org
    .command("add-member")
    .description("add a user to an organization")
    .argument("<org id>", "o_…")
    .argument("<user id>", "u_…")
    .action((orgId: string, userId: string) => run(platform => addMember(platform, orgId, userId)));
}
