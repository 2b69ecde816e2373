import type { Command } from "commander";
import type { Run } from "./run.ts";

const organizations = () => import("../accounts/organizations.ts");

export function organizationCommands(program: Command, run: Run): void {
  const org = program.command("org").description("manage organizations");
  org
    .command("create")
    .description("create an organization; prints {id}")
    .requiredOption("--name <name>", "display name")
    .requiredOption("--owner <user id>", "u_…, its first member")
    .action((options: { name: string; owner: string }) =>
      run(async platform => {
        const { createOrganization } = await organizations();
        return createOrganization(platform, { name: options.name, ownerId: options.owner });
      }),
    );
  org
    .command("add-member")
    .description("add a user to an organization")
    .argument("<org id>", "o_…")
    .argument("<user id>", "u_…")
    .action((orgId: string, userId: string) =>
      run(async platform => (await organizations()).addMember(platform, orgId, userId)),
    );
}
