import type { Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { show, table, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { type JsonOption, jsonOption } from "./list.ts";

type Attention = Schemas["Attention"];

/** What needs somebody now, one line for each thing. */
export function attentionCommand(program: Command, tools: RemoteTools): void {
  const command = program.command("attention").description("show what needs somebody now, and why");
  remoteAction<JsonOption>(jsonOption(command), tools, async ({ client, options }) =>
    show(await client.attention(), options, textOf),
  );
}

/** What waits in the queues of the account, one line for each queue. */
export function queuesCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("queues")
    .description("show what waits in the account's queues, and since when");
  remoteAction<JsonOption>(jsonOption(command), tools, async ({ client, options }) =>
    show(await client.queues(), options, queuesText),
  );
}

function queuesText({ deliveries, runs }: Schemas["Queues"]): string {
  const since = (ms: number | null) => (ms === null ? null : timeOf(ms));
  const rows = [
    ...deliveries.flatMap(({ listener_id, listener_name, due, retries, oldest_due_ms, oldest_retry_ms }) => [
      ...(due > 0 ? [["due", listener_name ?? listener_id, String(due), since(oldest_due_ms)]] : []),
      ...(retries > 0
        ? [["retries", listener_name ?? listener_id, String(retries), since(oldest_retry_ms)]]
        : []),
    ]),
    ...runs.map(({ source_name, waiting, oldest_ms }) => [
      ...["runs", source_name, String(waiting)],
      since(oldest_ms),
    ]),
  ];
  return rows.length === 0 ? "Nothing waits." : table(["what", "of", "count", "since"], rows);
}

function textOf(attention: Attention): string {
  const rows = rowsOf(attention);
  if (rows.length === 0) return "Nothing needs you.";
  return table(["what", "name", "since", "why"], rows);
}

function rowsOf({ disabled, failing, issues, sources, connections, retries, quotas }: Attention) {
  const since = (ms: number | null) => (ms === null ? null : timeOf(ms));
  const errors = (causes: Attention["failing"][number]["causes"]) =>
    causes.map(({ cause, count }) => `${cause} (${count})`).join(", ");
  const { oldest } = retries;
  return [
    ...disabled.map(one => ["disabled", one.name ?? one.id, since(one.since_ms), one.reason]),
    ...failing.map(one => ["failing", one.name ?? one.id, since(one.since_ms), errors(one.causes)]),
    ...issues.map(one => [
      ...[`issue ${one.id}`, one.listener_name ?? one.listener_id, since(one.opened_at_ms)],
      `${one.cause} (${one.count}): ${one.last_error}`,
    ]),
    ...sources.map(one => [
      ...["source", one.name, since(one.since_ms)],
      `${one.failed_runs} runs failed${one.code === null ? "" : ` (${one.code})`}`,
    ]),
    ...connections.map(one => ["connection", one.name, since(one.since_ms), one.message ?? one.code]),
    ...(oldest === null
      ? []
      : [
          [
            ...["retries", oldest.listener_name ?? oldest.listener_id, since(oldest.since_ms)],
            `${retries.count} deliveries wait`,
          ],
        ]),
    ...quotas.map(({ quota, percent, used, most }) => [
      "quota",
      quota,
      null,
      `${percent} %: ${used} of ${most}`,
    ]),
  ];
}
