import { Argument, type Command } from "commander";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import type { FileDiff } from "../../lib/code-diff.ts";
import { AppError } from "../../lib/errors.ts";
import { readPropsFile, UsageError } from "../input.ts";
import { coloured, plain, print, show, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { firstRows, type JsonOption, jsonOption, type ListOptions, listOptions, printRows } from "./list.ts";
import { findSource } from "./names.ts";
import { commandOn, type Subject } from "./subject.ts";

type Source = Schemas["SourceDetail"];
type Version = Schemas["CodeVersion"];
type Detail = Schemas["CodeVersionDetail"];
/** The subject of the commands of sources. */
type OfSource = Subject<Source, Schemas["Source"]>;

/** Adds the commands about versions of a source's code. */
export function versionCommands(source: Command, tools: RemoteTools, subject: OfSource): void {
  versionsCommand(source, tools, subject);
  diffCommand(source, tools, subject);
  restoreCommand(source, tools, subject);
}

function versionsCommand(source: Command, tools: RemoteTools, subject: OfSource): void {
  const command = listOptions(commandOn(source, "versions", subject, "list the versions of a source's code"));
  remoteAction<ListOptions>(command, tools, async ({ client, options }, given = "") => {
    const rows = await firstRows<Version>(client.sources.versions(given), options.limit);
    printRows(rows, options, {
      version: ({ number, is_current }) => (is_current ? `${number} (current)` : number),
      at: ({ created_at }) => created_at && timeOf(created_at * 1000),
      by: ({ username, user_id }) => username ?? user_id,
      from: ({ from, restored_from }) => (restored_from === null ? from : `version ${restored_from}`),
      code: ({ code_hash, component_version }) =>
        code_hash && `${component_version} ${code_hash.slice(0, 8)}`,
      comment: ({ comment }) => comment,
    });
  });
}

const NUMBER = /^[1-9]\d{0,8}$/;

/** Returns the number of a version as it was given. Throws UsageError. */
function numberOf(given: string): number {
  if (!NUMBER.test(given)) throw new UsageError(`${given}: a version is a number from 1`);
  return Number(given);
}

const DIFF_HELP = `
Without numbers: what the newest version changed. With one: from that version to the newest.

  headwater source diff orders
  headwater source diff orders 3
  headwater source diff orders 3 5`;

function diffCommand(source: Command, tools: RemoteTools, subject: OfSource): void {
  const command = commandOn(source, "diff", subject, "show what differs between two versions of its code")
    .addArgument(new Argument("[from]", "number of a version; by default the one before the newest"))
    .addArgument(new Argument("[to]", "number of a version; by default the newest"))
    .addHelpText("after", DIFF_HELP);
  remoteAction(command, tools, async ({ client }, given = "", from?: string, to?: string) => {
    const [before, after] = await readTwo(client, given, from, to);
    const { diffCode } = await import("../../lib/code-diff.ts");
    print(textOf(diffCode(before, after), before.number, after.number));
  });
}

/** Reads the two versions that are compared. Throws AppError if there is only one, or the code of one is gone. */
async function readTwo(
  client: Headwater,
  id: string,
  from: string | undefined,
  to: string | undefined,
): Promise<[Detail, Detail]> {
  const { data } = await client.sources.versions(id);
  const newest = data[0]?.number ?? 1;
  const earlier = data[1]?.number;
  const first = from === undefined ? earlier : numberOf(from);
  if (first === undefined) throw new AppError("not-found", "the source has one version, and none to compare");
  const numbers = [first, to === undefined ? newest : numberOf(to)];
  const [before, after] = await Promise.all(numbers.map(number => client.sources.version(id, number)));
  for (const version of [before, after]) {
    if (version?.code !== null) continue;
    const message = `the code of version ${version.number} was deleted, or is not yours to read`;
    throw new AppError("not-found", message);
  }
  return [before, after] as [Detail, Detail];
}

function textOf(files: readonly FileDiff[], from: number, to: number): string {
  if (files.length === 0) return `Versions ${from} and ${to} have the same code.`;
  return files.map(file => fileText(file, from, to)).join("\n");
}

/** As programs that apply patches read it. */
function fileText({ path, hunks }: FileDiff, from: number, to: number): string {
  const head = [`--- ${path}\tversion ${from}`, `+++ ${path}\tversion ${to}`];
  const lines = hunks?.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
  return [...head, ...(lines ?? ["nearly all of it differs"])].map(shownLine).join("\n");
}

const COLOURS = { "+": "green", "-": "red", "@": "cyan" } as const;

/** Code from elsewhere must not move the cursor of a terminal; what is not for one stays as it is. */
function shownLine(line: string): string {
  if (!process.stdout.isTTY) return line;
  const text = plain(line.replaceAll("\t", "    "));
  const colour = COLOURS[line.slice(0, 1) as keyof typeof COLOURS];
  return colour === undefined ? text : coloured(colour, text);
}

interface RestoreOptions extends JsonOption {
  comment?: string;
  props?: string;
}

function restoreCommand(source: Command, tools: RemoteTools, subject: OfSource): void {
  const command = commandOn(source, "restore", subject, "deploy a version of its code again, as the next one")
    .addArgument(new Argument("<version>", "its number"))
    .option("--props <file>", "JSON file with the values of props that do not fit it, by name")
    .option("--comment <text>", "kept with the version");
  remoteAction<RestoreOptions>(
    jsonOption(command),
    tools,
    async ({ client, options }, given = "", version = "") => {
      const number = numberOf(version);
      const { id, name } = await findSource(client, given);
      const restored = await client.sources.restoreVersion(id, number, {
        ...(options.props !== undefined && { configured_props: await readPropsFile(options.props) }),
        ...(options.comment !== undefined && { comment: options.comment }),
      });
      const lost = restored.secrets_removed
        .map(secret => ` Its secret ${plain(secret)} was removed.`)
        .join("");
      show(restored, options, () => `${plain(name)} (${id}) has the code of version ${number}.${lost}`);
    },
  );
}
