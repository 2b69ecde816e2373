import { eventScore } from "../../src/lib/ids.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { StoredEvents } from "../../src/models/event.ts";
import { RunRecords } from "../../src/models/run.ts";
import { Sources } from "../../src/models/source.ts";
import type { Platform } from "../../src/platform.ts";
import { readDrops } from "../../src/store/events/drops.ts";
import { listSetAside } from "../../src/store/sweeps/set-aside.ts";
import type { Summary } from "../support/api.ts";
import { type Row, rowOf } from "./compare.ts";
import type { Stage } from "./stage.ts";

const MOST_ROWS = 20;

/** Returns a line for each thing that is still to be done. */
export async function unfinished({ installation, model, sources }: Stage): Promise<string[]> {
  const { platform } = installation;
  const { mongo, redis, keys } = platform;
  const lines: string[] = [];
  for (const [name, queue] of platform.queues) {
    const counts = await queue.getJobCounts(
      "waiting",
      "prioritized",
      "active",
      "delayed",
      "waiting-children",
    );
    const open = Object.entries(counts).filter(([, count]) => count > 0);
    if (open.length > 0) lines.push(`queue ${name}: ${JSON.stringify(Object.fromEntries(open))}`);
  }
  const ids = [...Object.values(sources).map(({ id }) => id), ...model.deleted.map(({ id }) => id)];
  for (const id of ids) {
    for (const key of [keys.runQueue(id), keys.changeQueue(id), keys.claimedRuns(id)]) {
      const length = await redis.llen(key);
      if (length > 0) lines.push(`${key}: ${length}`);
    }
    const settled = await redis.hlen(keys.settledRuns(id));
    if (settled > 0) lines.push(`${keys.settledRuns(id)}: ${settled}`);
  }
  const found = await Promise.all([
    Deliveries(mongo).find({ state: "pending" }, { _id: 1 }).limit(MOST_ROWS).lean(),
    StoredEvents(mongo)
      .find({ pending_dispatch: { $exists: true } }, { _id: 1 })
      .limit(MOST_ROWS)
      .lean(),
    RunRecords(mongo)
      .find({ "outbox.0": { $exists: true } }, { _id: 1 })
      .limit(MOST_ROWS)
      .lean(),
    Sources(mongo)
      .find({ $or: [{ state: { $ne: "ready" } }, { begun: { $exists: true } }] }, { _id: 1 })
      .limit(MOST_ROWS)
      .lean(),
  ]);
  const names = ["pending delivery", "event to be dispatched", "outbox of run", "source between two states"];
  for (const [i, rows] of found.entries()) for (const { _id } of rows) lines.push(`${names[i]} ${_id}`);
  return lines;
}

/** Compares what is stored and listed in the end with what arrived. */
export async function compareStored(stage: Stage): Promise<Row[]> {
  const { platform } = stage.installation;
  return [
    rowOf("left undone", await unfinished(stage)),
    rowOf("jobs that were given up", await givenUp(platform)),
    rowOf(
      "items set aside",
      (await listSetAside(platform)).map(({ step, item, error }) => `${step} ${item}: ${error}`),
    ),
    rowOf("runs that failed without a cause", await failedRuns(stage)),
    rowOf("deliveries that ended otherwise", await endedOtherwise(stage)),
    rowOf("lists of events", await compareLists(stage)),
    rowOf("missed by the SSE reader", missedByReaders(stage)),
    rowOf("drop counters", await compareDrops(stage)),
  ];
}

async function givenUp({ queues }: Platform): Promise<string[]> {
  const lines: string[] = [];
  for (const [name, queue] of queues) {
    const failed = await queue.getFailed(0, MOST_ROWS);
    lines.push(...failed.map(job => `${name} ${job.name} ${job.id}: ${job.failedReason}`));
  }
  return lines;
}

async function failedRuns({ installation, sources }: Stage): Promise<string[]> {
  const failed = await RunRecords(installation.platform.mongo)
    .find({ error: { $exists: true } }, { source_id: 1, outcome: 1, error: 1 })
    .lean();
  const throwing = sources.throwing?.id;
  return failed
    .filter(({ source_id, error }) => source_id !== throwing || error?.message !== "planned")
    .map(({ _id, source_id, error }) => `${_id} of ${source_id}: ${error?.code} ${error?.message}`);
}

async function endedOtherwise({ installation, model }: Stage): Promise<string[]> {
  const lines: string[] = [];
  for (const { id, path, isFailing, deletedAtMs } of model.webhooks) {
    if (deletedAtMs !== undefined) continue;
    const wanted = isFailing ? "failed" : "delivered";
    const others = await Deliveries(installation.platform.mongo)
      .find({ webhook_id: id, $nor: [{ state: wanted, reason: isFailing ? "exhausted" : null }] })
      .limit(MOST_ROWS)
      .lean();
    lines.push(...others.map(({ _id, state, reason }) => `${_id} at ${path}: ${state} ${reason}`));
  }
  return lines;
}

/** The last events, of which an emitter keeps 100. */
const KEPT = 100;
const score = (eventId: string): number => eventScore(eventId) ?? 0;

async function compareLists({ model, receiver, sources }: Stage): Promise<string[]> {
  const lines: string[] = [];
  for (const { emitter, sourceId, path, deletedUpTo } of model.lists) {
    const client = sources[emitter]?.client;
    const summaries = await client?.insist<Summary[]>("GET", `/sources/${sourceId}/event_summaries`);
    const listed = (summaries ?? []).map(({ id }) => id);
    const arrived = [...receiver.at(path).values()].flatMap(({ eventIds }) => [...eventIds]);
    const wanted = arrived
      .filter(id => deletedUpTo === undefined || score(id) > score(deletedUpTo))
      .sort((one, other) => score(other) - score(one))
      .slice(0, KEPT);
    for (const id of wanted) if (!listed.includes(id)) lines.push(`${id} of ${emitter} is not listed`);
    for (const id of listed) if (!wanted.includes(id)) lines.push(`${id} of ${emitter} is listed`);
  }
  return lines;
}

function missedByReaders({ model, receiver }: Stage): string[] {
  const lines: string[] = [];
  for (const { emitter, path, sinceMs, eventIds, reconnects } of model.streams) {
    for (const [key, arrival] of receiver.at(path)) {
      const sentAtMs = model.sent.get(key)?.atMs ?? 0;
      const [id = ""] = arrival.eventIds;
      if (sentAtMs >= sinceMs && !eventIds.has(id))
        lines.push(`${key} (${id}) of ${emitter}, ${reconnects} reconnects`);
    }
  }
  return lines;
}

async function compareDrops({ installation, model, receiver, sources }: Stage): Promise<string[]> {
  const { platform } = installation;
  const lines: string[] = [];
  const check = async (name: string, reason: string, least: number, most: number): Promise<void> => {
    const counted = (await readDrops(platform, sources[name]?.id ?? ""))[reason] ?? 0;
    if (counted < least || counted > most) {
      lines.push(`${name}: ${counted} ${reason}, not ${least}${most > least ? ` to ${most}` : ""}`);
    }
  };
  const { accepted, unclear } = model.deduping;
  const emitted = receiver.at("/deduping").size;
  await check("deduping", "deduped", accepted - emitted, accepted + unclear - emitted);
  const odd = [...receiver.at("/plain").values()].filter(({ event }) => event.isEven === false).length;
  await check("plain", "filtered", odd, odd);
  return lines;
}
