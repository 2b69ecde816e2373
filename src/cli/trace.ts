import type { Command } from "commander";
import type { EventTrace } from "../events/trace-schema.ts";
import { plain, show } from "./output.ts";
import { type RemoteTools, remoteAction } from "./remote/remote-command.ts";
import { findEmitterId } from "./resources/names.ts";

interface Options {
  emitter?: string;
  json?: boolean;
}

const HELP = `
Where is my event? ID is an event id (from event_summaries), an emit id, or a delivery id (the webhook-id header that
the receiver saw). Beside an \`npm start\`, no settings are needed. docs/troubleshooting.md explains each line.

  headwater trace 1700000000000-0 --emitter dc_…
  headwater trace run_…-0
  headwater trace dlv_…`;

export function traceCommand(program: Command, tools: RemoteTools): void {
  const command = program
    .command("trace")
    .description("show what became of an event: emission, subscriptions, deliveries, attempts")
    .argument("<id>", "event id, emit id or delivery id")
    .option("--emitter <id>", "the source or workflow; required with an event id")
    .option("--json", "print the API's JSON")
    .addHelpText("after", HELP);
  remoteAction<Options>(command, tools, async ({ client, options }, id = "") => {
    const { emitter } = options;
    const emitterId = emitter === undefined ? undefined : await findEmitterId(client, emitter);
    const trace = await client.trace(id, emitterId);
    show(trace, options, () => traceLines(trace).join("\n"));
  });
}

const time = (ms: number) => new Date(ms).toISOString();
const list = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([reason, count]) => `${reason} ${count}`)
    .join(", ");

/** Returns the story of an event as lines for a person, from its emission to the last attempt. */
export function traceLines(trace: EventTrace): string[] {
  return [
    ...emissionLines(trace),
    ...(trace.trace_id ? [`trace            ${trace.trace_url ?? trace.trace_id}`] : []),
    ...subscriptionLines(trace),
    ...(trace.dispatch ? [`first attempts   job ${trace.dispatch.job_id}: ${trace.dispatch.state}`] : []),
    ...trace.deliveries.flatMap(deliveryLines),
    ...trace.listeners.map(listenerLine),
    ...(Object.keys(trace.emitter_dropped).length > 0
      ? [`dropped so far   ${list(trace.emitter_dropped)}  (all events of ${trace.emitter_id})`]
      : []),
    // What a component threw and what a receiver sent are texts from elsewhere.
  ].map(plain);
}

function emissionLines({
  state,
  event_id,
  emit_id,
  emitter_id,
  emitted_at_ms,
  name,
  summary,
  payload,
  run,
}: EventTrace) {
  const channel = name ? `, channel ${name}` : "";
  const head =
    state === "queued"
      ? `event            accepted, waits for the emissions worker (emit id ${emit_id})`
      : `event            ${event_id ?? "id no longer known"}${channel}${emitted_at_ms ? `, emitted ${time(emitted_at_ms)}` : ""}`;
  const kept = {
    stored: "stored whole, can be retried",
    "in-summary": "stored whole in its summary",
    gone: "no longer stored: it can't be retried",
  }[payload];
  const lines = [head, `emitter          ${emitter_id}${emit_id ? `, emit id ${emit_id}` : ""}`];
  if (run) lines.push(runLine("emitted by", run));
  if (state === "emitted") {
    const shown = summary
      ? `payload          ${kept}`
      : `payload          ${kept}; its summary was trimmed or deleted`;
    lines.push(shown);
  }
  return lines;
}

function runLine(
  label: string,
  { id, trigger, outcome, error, emitted, dropped }: NonNullable<EventTrace["run"]>,
) {
  const drops = Object.keys(dropped).length > 0 ? `, dropped: ${list(dropped)}` : "";
  const failure = error ? ` (${error.message})` : "";
  return `${label.padEnd(16)} ${id}, trigger ${trigger}, ${outcome}${failure}, emitted ${emitted}${drops}`;
}

function subscriptionLines({ subscriptions, state }: EventTrace): string[] {
  if (state === "queued") return [];
  if (subscriptions.length === 0)
    return ["subscriptions    none of yours to this emitter: the event went nowhere"];
  return subscriptions.map(
    ({ id, listener_id, outcome, reason }) =>
      `${outcome.padEnd(16)} ${id} → ${listener_id}${reason ? `: ${reason}` : ""}`,
  );
}

function deliveryLines(delivery: EventTrace["deliveries"][number]): string[] {
  const { id, webhook_id, state, reason, waiting_for, next_attempt_at_ms, attempts } = delivery;
  const due = state === "pending" && next_attempt_at_ms ? `, due ${time(next_attempt_at_ms)}` : "";
  const why = reason ? ` (${reason})` : "";
  const waits = waiting_for ? `, waits for ${waiting_for}` : "";
  return [
    `delivery         ${id} → ${webhook_id}: ${state}${why}${waits}${due}`,
    ...attempts.map(({ number, at_ms, status, latency_ms, error, response }) => {
      const result = status === null ? error : `HTTP ${status}`;
      const body = response ? `: ${JSON.stringify(response.slice(0, 100))}` : "";
      return `  attempt ${String(number).padEnd(6)} ${time(at_ms)}, ${result}, ${latency_ms} ms${body}`;
    }),
  ];
}

function listenerLine({ listener_id, state, run }: EventTrace["listeners"][number]): string {
  if (run) return runLine("ran", run);
  const words = {
    queued: "waits in its queue",
    finished: "finished",
    taken: "a workflow engine took it",
    failed: "its workflow engine gave it up",
    unknown: "no record of it is left, or its listener is gone",
  };
  return `listener         ${listener_id}: ${words[state]}`;
}
