import { Argument, type Command } from "commander";
import type { Headwater } from "../../../clients/typescript/src/index.ts";
import { print } from "../output.ts";
import { accessOptions, chooseAccess, clientFor, type RemoteTools } from "../remote/remote-command.ts";
import { firstRows } from "../resources/list.ts";
import type { Nameable, Names } from "../resources/names.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

const HELP = `
  bash   headwater completion bash > ~/.local/share/bash-completion/completions/headwater
  zsh    headwater completion zsh > "\${fpath[1]}/_headwater"      (and compinit in ~/.zshrc)
  fish   headwater completion fish > ~/.config/fish/completions/headwater.fish`;

export function completionCommand(program: Command, tools: RemoteTools): void {
  namesCommand(program, tools);
  program
    .command("completion")
    .description("print a script that completes commands, options and the names of your things in your shell")
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .addHelpText("after", HELP)
    .action(async (shell: Shell) => {
      const { commandTree } = await import("./command-tree.ts");
      print((await scripts[shell]())(commandTree(program)).trimEnd());
    });
}

const scripts = {
  bash: async () => (await import("./bash.ts")).bashScript,
  zsh: async () => (await import("./zsh.ts")).zshScript,
  fish: async () => (await import("./fish.ts")).fishScript,
};

/** A person who typed a key waits no longer for the server. */
const WAIT_MS = 1000;
/** A shell shows no more at once. */
const MOST_SHOWN = 100;
const MOST_READ = 1000;

/** A command would take it for an id or an option, or a shell or terminal would not show it as it is. */
const MISLEADING = /^(dc|p|wh|ds|ac)_|^-|^$|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * Adds the command that the scripts of `headwater completion` call: it gets the words before the cursor as they were typed, of
 * which the last is being completed, and prints the names that may stand there, one a line. It never says what went
 * wrong: the person is not done typing.
 */
function namesCommand(program: Command, tools: RemoteTools): void {
  const command = program.command("__complete", { hidden: true }).argument("[words...]");
  accessOptions(command).action(async (words: string[]) => {
    try {
      for (const name of await namesBehind(program, command, tools, words)) print(name);
    } catch {
      // No settings, a server that is away, a revoked key.
    }
  });
}

async function namesBehind(
  program: Command,
  command: Command,
  tools: RemoteTools,
  words: string[],
): Promise<string[]> {
  const { placeBehind, unquoted } = await import("./command-tree.ts");
  const typed = words.map(unquoted);
  const { names, given } = placeBehind(program, typed.slice(0, -1));
  if (names === null) return [];
  for (const [name, value] of given) command.setOptionValueWithSource(name, value, "cli");
  const access = await chooseAccess(command, tools);
  return shown(await readThings(clientFor(access), names), typed.at(-1) ?? "");
}

async function readThings(client: Headwater, names: Names): Promise<Nameable[]> {
  const call = { signal: AbortSignal.timeout(WAIT_MS) };
  const lists = await Promise.all(names(client, call).map(list => firstRows(list, MOST_READ)));
  return lists.flatMap(({ rows }) => rows);
}

/** Returns the names that begin so, with the id of a thing whose name does not mean it alone; or else the ids that do. */
function shown(things: Nameable[], start: string): string[] {
  const counts = new Map<string | null, number>();
  for (const { name } of things) counts.set(name, (counts.get(name) ?? 0) + 1);
  const isClear = (name: string | null): name is string =>
    name !== null && counts.get(name) === 1 && !MISLEADING.test(name);
  const called = things.map(({ id, name }) => (isClear(name) ? name : id));
  const startSo = (texts: string[]) => texts.filter(text => text.startsWith(start)).slice(0, MOST_SHOWN);
  const found = startSo(called);
  return found.length > 0 ? found : startSo(things.map(({ id }) => id));
}
