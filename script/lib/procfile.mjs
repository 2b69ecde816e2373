import { readFileSync } from "node:fs";
import { UserError } from "./user-error.mjs";

/** Parses a Procfile into `[{name, program, args}]`, in its order. Throws UserError for a line of another form. */
export function parseProcfile(text) {
  return text
    .split("\n")
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "" && !line.startsWith("#"))
    .map(({ line, number }) => {
      const [, name, command] = /^([a-z0-9-]+):\s*(\S.*)$/.exec(line) ?? [];
      if (!name) throw new UserError(`Procfile line ${number} is not "name: command": ${line}`);
      const [program, ...args] = command.split(/\s+/);
      return { name, program, args };
    });
}

/** The file with the processes that a start with these arguments runs: the small installation by default. */
export function procfileFor(args) {
  return args.includes("--processes") ? "Procfile" : "Procfile.small";
}

/** What platforms run once before the processes of a new release, and what is not a process itself. */
const BEFORE_PROCESSES = "release";

/** Reads the processes of a Procfile. Throws UserError if there is no `web`, whose health shows that everything is ready. */
export function readProcfile(file) {
  const processes = parseProcfile(readFileSync(file, "utf8")).filter(({ name }) => name !== BEFORE_PROCESSES);
  if (!processes.some(({ name }) => name === "web")) throw new UserError("Procfile has no line for web");
  return processes;
}
