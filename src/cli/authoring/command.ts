import { writeFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { type Command, Option } from "commander";
import { AppError } from "../../lib/errors.ts";
import { slugOf } from "../../lib/slug.ts";
import type { ReadVariable } from "../apply/schema.ts";
import type { LocalSettings } from "../dev/local-services.ts";
import { note, placeOf, print } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { FIRST_CASES, TEMPLATES, type Template } from "./templates.ts";
import { casesPathOf } from "./testing/cases-path.ts";

/** What the tests of components need of this machine. */
export interface TestTools {
  settings: () => Promise<LocalSettings>;
  variables: () => Promise<ReadVariable>;
}

/** Adds to the commands of components those for their authors (docs/component-api.md#types). */
export function authoringCommands(component: Command, tools: RemoteTools, testTools: TestTools): void {
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
      const cases = casesPathOf(file);
      // One that is there already has cases of somebody's own.
      await writeFile(cases, `${JSON.stringify({ cases: FIRST_CASES[kind] }, null, 2)}\n`, {
        flag: "wx",
      }).catch(() => undefined);
      note(
        `${file} was written, and a first case in ${cases}: headwater component test ${file}. Try it: headwater dev ${file}; deploy it: headwater ${kind === "action" ? "action deploy" : "deploy"} ${file}`,
      );
    });
  testCommand(component, testTools);
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

interface TestCommandOptions {
  cases?: string;
  case?: string;
  record?: boolean;
  allow: string[];
}

const TEST_HELP = `
Each case has props, and steps: an event or a tick, the HTTP requests that the component makes and what is responded, and what it is
expected to emit (docs/testing-components.md). Nothing else is reached; a request that is not recorded fails.

  headwater component test orders.mjs               orders.cases.json
  GITHUB_TOKEN=… headwater component test orders.mjs --record`;

function testCommand(component: Command, { settings, variables }: TestTools): void {
  component
    .command("test")
    .description(
      "run a component's cases in the sandbox, with recorded HTTP; exit code 1 if something differs",
    )
    .argument("<file>", "the component")
    .option("--cases <file>", "its cases (default: the file beside it that ends in .cases.json)")
    .option("--case <name>", "only this case")
    .option(
      "--record",
      "ask the services, and write what they respond into the cases, without secrets",
      false,
    )
    .option(
      "--allow <cidr>",
      "with --record: addresses to ask besides public ones, such as 127.0.0.0/8; may be repeated",
      (cidr: string, earlier: string[]) => [...earlier, cidr],
      [],
    )
    .addHelpText("after", TEST_HELP)
    .action(async (file: string, { cases, case: only, record = false, allow }: TestCommandOptions) => {
      const { testComponent } = await import("./testing/test-component.ts");
      const variable = await variables();
      await testComponent(await settings(), {
        ...{ file, cases, only, allow, variable },
        isRecording: record,
      });
    });
}
