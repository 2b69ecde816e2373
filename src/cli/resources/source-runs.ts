import type { Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { firstRows, type ListOptions, listOptions, printRows } from "./list.ts";
import { commandOn, type Subject } from "./subject.ts";

interface Options extends ListOptions {
  failed?: boolean;
}

/** Adds `runs`. */
export function runsCommand(
  source: Command,
  tools: RemoteTools,
  subject: Subject<Schemas["SourceDetail"], Schemas["Source"]>,
): void {
  const command = listOptions(
    commandOn(source, "runs", subject, "list the runs of a source, newest first"),
  ).option("--failed", "only those that failed");
  remoteAction<Options>(command, tools, async ({ client, options }, given = "") => {
    const { id } = await subject.find(client, given);
    const query = options.failed ? { outcome: "error" as const } : {};
    printRows(
      await firstRows(client.sources.runs(id, query), options.limit),
      { ...options, ids: true },
      {
        id: run => run.id,
        ended: ({ finished_at_ms }) => timeOf(finished_at_ms),
        trigger: ({ trigger }) => trigger,
        outcome: ({ outcome }) => outcome,
        ms: ({ duration_ms }) => Math.round(duration_ms),
        emitted: ({ emitted }) => emitted,
        dropped: ({ dropped }) =>
          Object.entries(dropped)
            .map(([reason, count]) => `${count} ${reason}`)
            .join(", "),
        error: ({ error }) => error?.message,
      },
    );
  });
}
