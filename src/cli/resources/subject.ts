import { Argument, type Command } from "commander";
import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { type Confirmed, confirmDeletion, UsageError, yesOption } from "../input.ts";
import { plain, print, show } from "../output.ts";
import { type Remote, type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { type JsonOption, jsonOption, type Listing, type ListOptions, listCommand } from "./list.ts";
import { NamedArgument, type Names } from "./names.ts";

/** What a command takes that is about one thing. */
interface Taken {
  /** As help texts name it: `webhook`. */
  word: string;
  /** How a person names one: `id or name`. */
  given: string;
  /** What completion offers; null for nothing. */
  names: Names | null;
}

/** What a group of commands is about. */
export interface Subject<Thing, Updated = Thing> extends Taken {
  /** Whether what is given is always its id: then it is not read before it is changed or deleted. */
  isById?: true;
  /** Throws the client's errors, and AppError if the name means none or several. */
  find: (client: Headwater, given: string) => Promise<Thing>;
  /** Returns what is shown of one. */
  detailOf: (thing: Thing) => string;
  update?: (client: Headwater, id: string, body: object) => Promise<Updated>;
}

/** The commands that nearly every group has. */
interface Group<Thing extends Named, Row, Options extends ListOptions> {
  description: string;
  help?: string;
  list: Listing<Row, Options>;
  show?: string;
  /** Those of this group alone, between `show` and `delete`. */
  own?: (group: Command) => void;
  delete?: Deletion<Thing>;
}

interface Deletion<Thing> {
  description: string;
  remove: (client: Headwater, id: string, options: Confirmed & { force?: boolean }) => Promise<unknown>;
  options?: (command: Command) => Command;
  /** What is said once the thing of this label is deleted. */
  done?: (label: string) => string;
  /** Where it takes one otherwise than the other commands. */
  subject?: Subject<Thing>;
}

/** What sentences about a thing need. */
interface Named {
  id: string;
  name?: string | null;
}

/** Adds the group of commands about a subject, and returns it. */
export function subjectCommands<Thing extends Named, Updated, Row, Options extends ListOptions = ListOptions>(
  program: Command,
  tools: RemoteTools,
  subject: Subject<Thing, Updated>,
  { description, help = "", list, show, own, ...commands }: Group<Thing, Row, Options>,
): Command {
  const group = program.command(subject.word).description(description).addHelpText("after", help);
  listCommand(group, tools, list);
  showCommand(group, tools, subject, show);
  own?.(group);
  if (commands.delete) deleteCommand(group, tools, subject, commands.delete);
  return group;
}

/** Adds a command that gets one of the things. */
export const commandOn = (
  group: Command,
  name: string,
  { word, given, names }: Taken,
  description: string,
): Command =>
  group
    .command(name)
    .description(description)
    .addArgument(names ? new NamedArgument(`<${word}>`, given, names) : new Argument(`<${word}>`, given));

/** Makes a command one that does `work` with the thing that it is given. */
export const thingAction = <Thing, Options = JsonOption>(
  command: Command,
  tools: RemoteTools,
  { find }: Pick<Subject<Thing, unknown>, "find">,
  work: (thing: Thing, remote: Remote<Options>) => Promise<void>,
): Command =>
  remoteAction<Options>(command, tools, async (remote, given = "") =>
    work(await find(remote.client, given), remote),
  );

function showCommand<Thing>(
  group: Command,
  tools: RemoteTools,
  subject: Subject<Thing, unknown>,
  description = `show a ${subject.word}`,
): void {
  const command = jsonOption(commandOn(group, "show", subject, description));
  thingAction(command, tools, subject, async (thing, { options }) => show(thing, options, subject.detailOf));
}

/** Adds `update`: `bodyOf` returns the fields that its options change. */
export function updateCommand<Thing extends Named, Updated extends Thing, Options extends JsonOption>(
  group: Command,
  tools: RemoteTools,
  subject: Subject<Thing, Updated>,
  {
    description,
    options,
    bodyOf,
  }: {
    description: string;
    options: (command: Command) => Command;
    bodyOf: (options: Options, find: () => Promise<Thing>) => object | Promise<object>;
  },
): void {
  const command = options(commandOn(group, "update", subject, description));
  remoteAction<Options>(command, tools, async ({ client, options }, given = "") => {
    let finding: Promise<Thing> | undefined;
    const find = () => (finding ??= subject.find(client, given));
    const body = await bodyOf(options, find);
    if (Object.keys(body).length === 0) throw new UsageError("nothing to change: give an option, see --help");
    const id = subject.isById ? given : (await find()).id;
    const updated = await subject.update?.(client, id, body);
    if (updated) show(updated, options, subject.detailOf);
  });
}

/** Adds `enable` and `disable`. */
export function activeCommands<Thing extends Named>(
  group: Command,
  tools: RemoteTools,
  subject: Subject<Thing, unknown>,
): void {
  for (const [name, active] of [
    ["enable", true],
    ["disable", false],
  ] as const) {
    const command = commandOn(group, name, subject, `${name} a ${subject.word}`);
    thingAction(command, tools, subject, async (thing, { client }) => {
      await subject.update?.(client, thing.id, { active });
      print(`${labelOf(thing, subject)} is ${active ? "active" : "disabled"}.`);
    });
  }
}

function deleteCommand<Thing extends Named>(
  group: Command,
  tools: RemoteTools,
  usual: Subject<Thing, unknown>,
  {
    description,
    remove,
    options = command => command,
    done = label => `${label} was deleted.`,
    subject = usual as Subject<Thing>,
  }: Deletion<Thing>,
): void {
  const command = options(yesOption(commandOn(group, "delete", subject, description)));
  remoteAction<Confirmed>(command, tools, async ({ client, options }, given = "") => {
    const thing = subject.isById ? { id: given } : await subject.find(client, given);
    const label = subject.isById ? plain(given) : labelOf(thing, subject);
    await confirmDeletion(`${subject.word} ${label}`, options);
    await remove(client, thing.id, options);
    print(done(label));
  });
}

const labelOf = ({ id, name }: Named, { word }: Taken) => plain(`${name ?? `The ${word}`} (${id})`);
