import { createInterface } from "node:readline";
import { type Command, InvalidArgumentError } from "commander";
import { dev, type Terminal } from "./dev/dev.ts";
import type { DevOptions } from "./dev/live.ts";
import type { LocalSettings } from "./dev/local.ts";

const DEFAULT_PORT = 4000;

function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError("must be a port");
  return Number(text);
}

const HELP = `
The component runs in the sandbox that deployed sources run in, without MongoDB, Redis or an account. What it emits,
logs and throws is printed; its db and what dedupe remembers last as long as the command. A save of the file, of a file
it imports or of the props takes the new code over: deactivate, then activate. Ctrl-C calls deactivate and ends.

  headwater dev source.mjs --props props.json       {"url": "https://…", "timer": {"intervalSeconds": 10}}
  headwater dev https://github.com/OWNER/REPO/blob/main/source.mjs --once`;

/** `headwater dev`; `settings` are read only when it runs. */
export function devCommand(program: Command, settings: () => LocalSettings): void {
  program
    .command("dev")
    .description("run a component here, on its timer or an HTTP port, and reload it on save")
    .argument("<file or url>", "the component; its relative imports are followed")
    .option("--props <file>", "JSON file with the values of its props, by name")
    .option("--port <number>", "port of its HTTP interface, 0 for any free one", portNumber, DEFAULT_PORT)
    .option("--once", "run once and end; exit code 1 when the run fails", false)
    .option("--event <file>", "JSON file with the event for --once and for Enter, instead of the timer's")
    .option(
      "--allow <cidr>",
      "addresses it may reach besides public ones, such as 127.0.0.0/8; may be repeated",
      (cidr: string, others: string[]) => [...others, cidr],
      [],
    )
    .addHelpText("after", HELP)
    .action(async (what: string, options: Omit<DevOptions, "what">) => {
      const { terminal, release } = openTerminal();
      try {
        await dev({ ...options, what }, settings(), terminal);
      } finally {
        release();
      }
    });
}

/** npm passes a terminal's Ctrl-C on, so that one key press may arrive twice. */
const SAME_PRESS_MS = 500;

function openTerminal(): { terminal: Terminal; release: () => void } {
  const ending = new AbortController();
  let firstAt = 0;
  const onSignal = () => {
    firstAt ||= Date.now();
    if (!ending.signal.aborted) ending.abort();
    else if (Date.now() - firstAt > SAME_PRESS_MS) process.exit(130);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of signals) process.on(name, onSignal);
  // Whoever read our output has gone, as with `| head`.
  process.stdout.once("error", () => ending.abort());
  let lines: ReturnType<typeof createInterface> | undefined;
  return {
    terminal: {
      output: process.stdout,
      ending: ending.signal,
      onEnter(listener) {
        lines = createInterface({ input: process.stdin });
        lines.on("line", listener);
      },
    },
    release() {
      for (const name of signals) process.off(name, onSignal);
      lines?.close();
      process.stdin.unref?.();
    },
  };
}
