import { writeFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { type Command, Option } from "commander";
import { AppError } from "../../lib/errors.ts";
import { slugOf } from "../../lib/slug.ts";
import { note, placeOf, print } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { TEMPLATES, type Template } from "./templates.ts";

/** Adds to the commands of components those for their authors (docs/component-api.md#types). */
export function authoringCommands(component: Command, tools: RemoteTools): void {
  component
    .command("new")
    .description("write a component to begin with")
    .argument("<file>", "such as orders.mjs or orders.ts, which must not exist yet")
    .addOption(
      new Option("--kind <kind>", "what runs it: requests, a timer, a look at a list, or events (an action)")
        .choices(Object.keys(TEMPLATES))
        .default("http"),
    )
    .action(async (file: string, { kind }: { kind: Template }) => {
      const name = basename(file, extname(file));
      await writeFile(file, TEMPLATES[kind](name, slugOf(name)), { flag: "wx" }).catch(
        (error: NodeJS.ErrnoException) => {
          throw new AppError(
            "invalid",
            `${file}: ${error.code === "EEXIST" ? "exists already" : error.message}`,
          );
        },
      );
      note(
        `${file} was written. Try it: headwater dev ${file}; deploy it: headwater ${kind === "action" ? "action deploy" : "deploy"} ${file}`,
      );
    });
  const check = component
    .command("check")
    .description(
      "check a component without saving it: what keeps it from being saved, and what others would miss in it",
    )
    .argument("<file or url>", "the component");
  remoteAction(check, tools, async ({ client }, location = "") => {
    const [{ codeAt }, { adviceOn }] = await Promise.all([
      import("../deploy/deploy.ts"),
      import("./advice.ts"),
    ]);
    const { errors, component: described } = await client.components.describe(await codeAt(location));
    const problems = errors.map(({ path, message, ...place }) => `${path}: ${message}${placeOf(place)}`);
    const found = described ? [...problems, ...adviceOn(described)] : problems;
    for (const line of found) print(line);
    if (found.length > 0)
      throw new AppError(
        "invalid",
        `${location}: ${found.length === 1 ? "one thing" : `${found.length} things`} to change`,
      );
    note(`${location} can be saved, and nothing is missing.`);
  });
}
