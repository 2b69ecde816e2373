import { Argument, type Command } from "commander";
import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { type Confirmed, confirmDeletion, yesOption } from "../input.ts";
import { plain, print, printJson } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { jsonOption } from "./list.ts";
import { NamedArgument, type Names } from "./names.ts";

/** What a group of commands is about, one of which each of them gets as its argument. */
export interface Subject<Thing> {
  /** As help texts name it: `webhook`. */
  word: string;
  /** How a person names one: `id or name`. */
  given: string;
  /** Throws the client's errors, and AppError if the name means none or several. */
  find: (client: Headwater, given: string) => Promise<Thing>;
  /** What completion offers; null for nothing. */
  names: Names | null;
}

/** What sentences about a thing need. */
interface Named {
  id: string;
  name: string | null;
}

/** Adds a command that gets one of the things. */
export const commandOn = (
  group: Command,
  name: string,
  { word, given, names }: Subject<unknown>,
  description: string,
): Command =>
  group
    .command(name)
    .description(description)
    .addArgument(names ? new NamedArgument(`<${word}>`, given, names) : new Argument(`<${word}>`, given));

/** Adds `show`. */
export function showCommand<Thing>(
  group: Command,
  tools: RemoteTools,
  subject: Subject<Thing>,
  {
    description = `show a ${subject.word}`,
    detailOf,
  }: { description?: string; detailOf: (thing: Thing) => string },
): void {
  const command = jsonOption(commandOn(group, "show", subject, description));
  remoteAction<{ json?: boolean }>(command, tools, async ({ client, options }, given = "") => {
    const thing = await subject.find(client, given);
    if (options.json) printJson(thing);
    else print(detailOf(thing));
  });
}

/** Adds `enable` and `disable`. */
export function activeCommands<Thing extends Named>(
  group: Command,
  tools: RemoteTools,
  subject: Subject<Thing>,
  update: (client: Headwater, id: string, body: { active: boolean }) => Promise<unknown>,
): void {
  for (const [name, active] of [
    ["enable", true],
    ["disable", false],
  ] as const) {
    const command = commandOn(group, name, subject, `${name} a ${subject.word}`);
    remoteAction(command, tools, async ({ client }, given = "") => {
      const thing = await subject.find(client, given);
      await update(client, thing.id, { active });
      print(`${labelOf(thing, subject)} is ${active ? "active" : "disabled"}.`);
    });
  }
}

/** Adds `delete`. */
export function deleteCommand<Thing extends Named>(
  group: Command,
  tools: RemoteTools,
  subject: Subject<Thing>,
  {
    description,
    remove,
  }: { description: string; remove: (client: Headwater, id: string) => Promise<unknown> },
): void {
  const command = yesOption(commandOn(group, "delete", subject, description));
  remoteAction<Confirmed>(command, tools, async ({ client, options }, given = "") => {
    const thing = await subject.find(client, given);
    await confirmDeletion(`${subject.word} ${labelOf(thing, subject)}`, options);
    await remove(client, thing.id);
    print(`${labelOf(thing, subject)} was deleted.`);
  });
}

const labelOf = ({ id, name }: Named, { word }: Subject<unknown>) =>
  plain(`${name ?? `The ${word}`} (${id})`);
