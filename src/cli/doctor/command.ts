import type { Command } from "commander";
import type { DoctorDeps } from "./examine.ts";
import type { Finding, Severity } from "./finding.ts";

const HELP = `
Run it on the machine of a worker, with the worker's settings, because it checks sandbox, npm and clock where it runs. While
\`npm start\` runs, it needs no settings. It prints one line for each check: what was found, and what to do.

  ok        all is well
  note      worth knowing; either only its owner can change it, or the installation works without it
  PROBLEM   stops or endangers work

Exit code: 0 without a problem, 1 with one, 2 for wrong usage. docs/troubleshooting.md explains each line.`;

const LABELS: Record<Severity, string> = { ok: "ok", note: "note", problem: "PROBLEM" };

export function doctorCommand(program: Command, deps: DoctorDeps): void {
  program
    .command("doctor")
    .description("check stores, sandbox, queues, sources and timers, and say what to do")
    .option("--json", "print {ok, findings: [{check, severity, message, advice?}]}")
    .addHelpText("after", HELP)
    .action(async ({ json }: { json?: boolean }) => {
      const { examine } = await import("./examine.ts");
      const findings = await examine(deps);
      const isOk = findings.every(({ severity }) => severity !== "problem");
      const text = json ? JSON.stringify({ ok: isOk, findings }, null, 2) : findings.map(lineOf).join("\n");
      process.stdout.write(`${text}\n`);
      process.exitCode = isOk ? 0 : 1;
    });
}

function lineOf({ check, severity, message, advice }: Finding): string {
  const line = `${LABELS[severity].padEnd(9)} ${check}: ${message}`;
  return advice === undefined ? line : `${line}. ${advice[0]?.toUpperCase()}${advice.slice(1)}`;
}
