import { readFileSync } from "node:fs";
import { Complaint } from "./complaint.mjs";

/** The processes of a Procfile's text, in its order: `[{name, program, args}]`. Comments and empty lines are skipped. */
export function parseProcfile(text) {
  return text
    .split("\n")
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "" && !line.startsWith("#"))
    .map(({ line, number }) => {
      const [, name, command] = /^([a-z0-9-]+):\s*(\S.*)$/.exec(line) ?? [];
      if (!name) throw new Complaint(`Procfile line ${number} is not "name: command": ${line}`);
      const [program, ...args] = command.split(/\s+/);
      return { name, program, args };
    });
}

/** Reads a Procfile; it must have a `web` process, since that one tells when everything is ready. */
export function readProcfile(file) {
  const processes = parseProcfile(readFileSync(file, "utf8"));
  if (!processes.some(({ name }) => name === "web")) throw new Complaint("Procfile has no line for web");
  return processes;
}
