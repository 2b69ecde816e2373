import { createInterface } from "node:readline";
import { type Command, InvalidArgumentError } from "commander";
import type { Terminal } from "./dev.ts";
import type { LocalSettings } from "./local-services.ts";
import type { DevOptions } from "./session.ts";

const DEFAULT_PORT = 4000;

function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError("must be a port");
  return Number(text);
}

const HELP = `
The component runs in the same sandbox as deployed sources, but without MongoDB, Redis or an account. Its events, log
lines and errors are printed; its db and the ids that dedupe remembers last until the command ends. Saving the file, a
file that it imports or the props file reloads the code: deactivate, then activate. Ctrl-C calls deactivate and ends.

  headwater dev source.mjs --props props.json       {"url": "https://…", "timer": {"intervalSeconds": 10}}
  headwater dev https://github.com/OWNER/REPO/blob/main/source.mjs --once`;

/** Adds `headwater dev`; `settings` is called only when the command runs. */
export function devCommand(program: Command, settings: () => Promise<LocalSettings>): void {
  program
    .command("dev")
    .description("run a component on this machine, by its timer or an HTTP port, and reload it on save")
    .argument("<file or url>", "the component; its relative imports are followed")
    .option("--props <file>", "JSON file with the values of its props, by name")
    .option("--port <number>", "port of its HTTP interface, 0 for any free one", portNumber, DEFAULT_PORT)
    .option("--once", "run once and end; exit code 1 if the run fails", false)
    .option("--event <file>", "JSON file with the event for --once and for Enter, instead of the timer's")
    .option(
      "--allow <cidr>",
      "addresses that it may reach besides public ones, such as 127.0.0.0/8; may be repeated",
      (cidr: string, earlier: string[]) => [...earlier, cidr],
      [],
    )
    .addHelpText("after", HELP)
    .action(async (location: string, options: Omit<DevOptions, "location">) => {
      const { terminal, release } = openTerminal();
      try {
        const { dev } = await import("./dev.ts");
        await dev({ ...options, location }, await settings(), terminal);
      } finally {
        release();
      }
    });
}

/** Two signals within this time count as one: npm passes a terminal's Ctrl-C on, so that it may arrive twice. */
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
  // The reader of our output has ended, as with `| head`.
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
