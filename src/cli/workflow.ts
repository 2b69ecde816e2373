import type { Command } from "commander";
import type { Run } from "./run.ts";

export function workflowCommands(program: Command, run: Run): void {
  program
    .command("workflow")
    .description("manage workflows, which your own engine executes")
    .command("create")
    .description("register a workflow; prints {id}")
    .requiredOption("--owner <id>", "u_… or o_…")
    .requiredOption("--name <name>", "display name")
    .action((options: { owner: string; name: string }) =>
      run(async platform => {
        const { createWorkflow } = await import("../workflows/create.ts");
        const { id } = await createWorkflow(platform, { ownerId: options.owner, name: options.name });
        return { id };
      }),
    );
}
