import type { Command } from "commander";
import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { type Confirmed, confirmDeletion, UsageError, yesOption } from "../input.ts";
import { coloured, note, plain, print, printJson } from "../output.ts";
import type { Access } from "../remote/access.ts";
import { explain, openEgress, type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import type { Change, FieldChange } from "./compare.ts";
import type { Plan } from "./plan.ts";
import type { ReadVariable } from "./schema.ts";

interface Options extends Confirmed {
  file: string;
  plan?: boolean;
  exitCode?: boolean;
  prune?: boolean;
  secrets?: boolean;
  showKeys?: boolean;
  json?: boolean;
}

export interface ApplyTools {
  /** Returns what reads the variables of the environment that the file names. */
  variables: () => Promise<ReadVariable>;
}

const HELP = `
Makes the connections, workflows, sources, webhooks, destinations, actions and subscriptions of a file, and changes those that
differ; applying it twice changes nothing.
What it makes is called "<project>/<name>", and is known by that. \${NAME} in a value is a variable of the environment, and
is never printed. docs/cli.md describes the file.

  headwater apply -f headwater.yaml --plan
  headwater apply -f headwater.yaml --prune

--prune asks before it deletes anything; --yes does not ask, and is needed without a terminal.

Exit code 3 with --plan --exit-code: there is something to change.`;

/** With `--plan --exit-code`: the server differs from the file. */
const EXIT_DIFFERS = 3;

export function applyCommand(program: Command, tools: RemoteTools, applyTools: ApplyTools): void {
  const command = yesOption(program.command("apply"))
    .description(
      "make connections, workflows, sources, webhooks, destinations, actions and subscriptions as a file declares them",
    )
    .requiredOption(
      "-f, --file <file>",
      "such as headwater.yaml; - is the standard input, beside the present folder",
    )
    .option("--plan", "only show what would change")
    .option("--exit-code", "with --plan: exit code 3 if anything would change")
    .option("--prune", "also delete what the project has on the server and not in the file")
    .option("--secrets", "send secrets and headers again without comparing them")
    .option("--show-keys", "print the signing keys of webhooks that are made")
    .option("--json", "print {changes, kept, consents} as JSON")
    .addHelpText("after", HELP);
  remoteAction<Options>(command, tools, async ({ client, access, options }) => {
    await apply(client, access, options, applyTools);
  });
}

async function apply(client: Headwater, access: Access, options: Options, tools: ApplyTools): Promise<void> {
  const [{ makePlan }, { readDeclaration }, { saveComponentAt }] = await Promise.all([
    import("./plan.ts"),
    import("./read-file.ts"),
    import("../deploy/deploy.ts"),
  ]);
  const declared = await readDeclaration(options.file, await tools.variables());
  const egress = await openEgress();
  try {
    const plan = await makePlan(declared, {
      client,
      egress,
      url: access.url,
      accountId: async () => access.orgId ?? (await client.me()).id,
      path: options.file,
      save: location => saveComponentAt(location, client),
      sendsSecrets: options.secrets ?? false,
      onKey: (name, key) => void (options.showKeys && note(`Signing key of ${name}: ${key}`)),
    });
    await carryOut(plan, access, options);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code = "invalid", message } = explain(error, access.url) as Partial<AppError>;
    throw new AppError(code, declared.redact(message ?? String(error)), { cause: error });
  } finally {
    await egress.close();
  }
}

async function carryOut(
  { changes, deletions, goOn, consents }: Plan,
  access: Access,
  options: Options,
): Promise<void> {
  const all = options.prune ? [...changes, ...deletions] : changes;
  const kept = options.prune
    ? []
    : [...deletions.map(({ kind, name }) => `${kind} ${name}`), ...goOn.map(name => `subscription ${name}`)];
  if (options.json) printJson({ changes: planJson(all), kept, consents });
  else print(planLines(all).join("\n"));
  if (kept.length > 0) note(`Not in the file, and kept without --prune: ${kept.join(", ")}`);
  for (const consent of consents) note(`Needs a person's consent: ${consent}`);
  if (options.plan) {
    if (options.exitCode && all.length + consents.length > 0) process.exitCode = EXIT_DIFFERS;
    return;
  }
  if (options.prune && deletions.length > 0) {
    const names = deletions.map(({ kind, name }) => `${kind} ${plain(name)}`);
    await confirmDeletion(names.join(", "), options);
  }
  for (const [done, change] of all.entries()) {
    await change.apply().catch(error => {
      throw failed(change, explain(error, access.url), `${done} of ${all.length}`);
    });
  }
  if (all.length > 0) note("Done.");
}

function failed({ action, kind, name }: Change, error: unknown, done: string): unknown {
  if (!(error instanceof AppError)) return error;
  const message = `${action} ${kind} ${name}: ${error.message}; ${done} changes were made, apply again goes on`;
  return new AppError(error.code, message, { cause: error });
}

const MARKS: Record<Change["action"], string> = { create: "+", update: "~", delete: "-" };
const COLOURS = { create: "green", update: "yellow", delete: "red" } as const;
/** So much of a value is shown. */
const VALUE_CHARS = 200;

/** Returns a plan as lines for a person. Values of the environment are not in it. */
function planLines(changes: readonly Change[]): string[] {
  const lines = changes.flatMap(({ action, kind, name, fields }) => [
    coloured(COLOURS[action], `${MARKS[action]} ${kind} ${plain(name)}`),
    ...fields.map(field => `    ${lineOf(field)}`),
  ]);
  return [...lines, summaryOf(changes)];
}

/** Returns what a program gets of a plan. */
const planJson = (changes: readonly Change[]) =>
  changes.map(({ action, kind, name, fields }) => ({ action, kind, name, fields }));

function summaryOf(changes: readonly Change[]): string {
  if (changes.length === 0) return "Nothing to change.";
  const count = (action: Change["action"]) => changes.filter(one => one.action === action).length;
  return `${count("create")} to create, ${count("update")} to change, ${count("delete")} to delete.`;
}

function lineOf({ field, from, to }: FieldChange): string {
  const wanted = to === null ? "removed" : textOf(to);
  return from === undefined ? `${field}: ${wanted}` : `${field}: ${textOf(from)} → ${wanted}`;
}

function textOf(value: unknown): string {
  const text = plain(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  return text.length > VALUE_CHARS ? `${text.slice(0, VALUE_CHARS)}…` : text;
}
