import { countDrop } from "../events/drops.ts";
import type { Platform } from "../platform.ts";
import type { CallError } from "../sandbox/protocol.ts";
import { planOf } from "../users/service.ts";
import { countRun, usageToday } from "../users/usage.ts";
import { propValuesForRun } from "./configure.ts";
import { dedupe, inOrder } from "./dedupe.ts";
import { emissionsOf } from "./emissions-of.ts";
import { endpointUrl } from "./endpoint.ts";
import type { TriggeredItem } from "./line-item.ts";
import { loadCode } from "./load-code.ts";
import { type Source, Sources } from "./model.ts";
import { sendOutbox } from "./outbox.ts";
import { findRun, type Memory, readMemory, recordRun } from "./record-run.ts";
import { reply } from "./reply.ts";

export type RunPlatform = Pick<
  Platform,
  | "mongo"
  | "redis"
  | "keys"
  | "queues"
  | "eventLog"
  | "runLine"
  | "secrets"
  | "counters"
  | "config"
  | "clock"
  | "log"
  | "sandboxes"
>;

const QUOTA_EXCEEDED: CallError = {
  code: "Quota Exceeded",
  message: "the account's daily quota is used up; the run was not executed",
  stack: "",
};

/**
 * Runs a source on one trigger: code, dedupe, record, emissions on their queue. Repeated (after a crash), it only
 * finishes what is missing. Answers the fields of its log line.
 */
export async function runSource(
  platform: RunPlatform,
  sourceId: string,
  item: TriggeredItem,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const [source, memory, earlier] = await Promise.all([
    Sources(platform.mongo).findById(sourceId).lean(),
    readMemory(platform, sourceId),
    findRun(platform, item.run_id),
  ]);
  if (earlier.length > 0) {
    for (const record of earlier) await sendOutbox(platform, record);
    return { outcome: "repeated" };
  }
  if (source?.state !== "ready" || !source.active) {
    await countDrop(platform, sourceId, "source-inactive");
    await reply(platform, item, {
      type: "ended",
      error: { code: "inactive", message: "the source is not active" },
    });
    return { outcome: "inactive" };
  }
  if (await isOverQuota(platform, source.owner_id)) return recordOverQuota(platform, source, item);
  return execute(platform, source, memory, item, signal);
}

async function execute(
  platform: RunPlatform,
  source: Source,
  memory: Memory,
  item: TriggeredItem,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { component, bundle } = await loadCode(platform, source.component_id);
  const sandboxes = await platform.sandboxes();
  const values = JSON.parse(platform.secrets.open(source.configured_props));
  const result = await sandboxes.call(
    `${source._id}:${bundle.hash}`,
    bundle,
    {
      call: "run",
      event: item.event,
      props: propValuesForRun(component.description.props, values, {
        endpointUrl: endpointUrl(platform, source.endpoint),
      }),
      db: memory.db,
    },
    { signal, onRespond: response => void reply(platform, item, { type: "response", response }) },
  );
  signal.throwIfAborted();

  const {
    kept,
    dropped,
    memory: remembered,
  } = dedupe(component.description.dedupe, memory.dedupe, inOrder(result.emits));
  const changed = memoryAfter(memory, result.db, remembered, component.description.dedupe !== undefined);
  const outcome = result.error?.code ?? "ok";
  const records = await recordRun(platform, {
    _id: item.run_id,
    source_id: source._id,
    owner_id: source.owner_id,
    kind: item.kind,
    outcome,
    duration_ms: result.durationMs,
    emitted: kept.length,
    dropped: dropped > 0 ? { deduped: dropped } : {},
    emissions: emissionsOf(source, item, { emits: kept, logs: result.logs, error: result.error }, platform),
    ...(changed && { memory: changed }),
  });
  for (const record of records) await sendOutbox(platform, record);
  await Promise.all([
    countRun(platform, source.owner_id, result.durationMs),
    countDrop(platform, source._id, "deduped", dropped),
    reply(platform, item, { type: "ended", ...(result.error && { error: result.error }) }),
  ]);
  platform.counters.add("runs_total", { outcome: outcomeLabel(outcome) });
  return { outcome, emitted: kept.length, dropped, run_ms: Math.round(result.durationMs) };
}

/** Error names are the user's; the metric's label is one of a few. */
function outcomeLabel(outcome: string): string {
  return ["ok", "Timeout", "Out of Memory"].includes(outcome) ? outcome : "error";
}

/** What must be stored, or undefined when the run changed nothing of it. */
export function memoryAfter(
  memory: Memory,
  db: Record<string, unknown> | undefined,
  remembered: Memory["dedupe"],
  dedupes: boolean,
): Memory | undefined {
  const dbAfter = db ?? memory.db;
  const dbChanged = db !== undefined && JSON.stringify(db) !== JSON.stringify(memory.db);
  const dedupeChanged = dedupes && JSON.stringify(remembered) !== JSON.stringify(memory.dedupe);
  if (!dbChanged && !dedupeChanged) return undefined;
  return { db: dbAfter, dedupe: dedupes ? remembered : memory.dedupe, version: memory.version };
}

async function isOverQuota(platform: RunPlatform, ownerId: string): Promise<boolean> {
  const { dailyInvocations, dailyComputeMs } = platform.config.quotas;
  const usage = await usageToday(platform, ownerId);
  if (usage.invocations < dailyInvocations && usage.compute < dailyComputeMs) return false;
  return (await planOf(platform, ownerId)) === "free";
}

async function recordOverQuota(
  platform: RunPlatform,
  source: Source,
  item: TriggeredItem,
): Promise<Record<string, unknown>> {
  const records = await recordRun(platform, {
    _id: item.run_id,
    source_id: source._id,
    owner_id: source.owner_id,
    kind: item.kind,
    outcome: QUOTA_EXCEEDED.code,
    duration_ms: 0,
    emitted: 0,
    dropped: { "over-quota": 1 },
    emissions: emissionsOf(source, item, { emits: [], logs: [], error: QUOTA_EXCEEDED }, platform),
  });
  for (const record of records) await sendOutbox(platform, record);
  await countDrop(platform, source._id, "over-quota");
  await reply(platform, item, { type: "ended", error: QUOTA_EXCEEDED });
  platform.counters.add("runs_total", { outcome: "over-quota" });
  return { outcome: QUOTA_EXCEEDED.code };
}
