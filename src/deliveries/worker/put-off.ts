import { setTimeout as delay } from "node:timers/promises";
import { Deliveries, type Delivery } from "../../models/delivery.ts";
import { enqueueDrains } from "../../queues/enqueue-drain.ts";
import { dueFields } from "../attempt/due-fields.ts";
import { insertNew } from "../attempt/record.ts";
import { attemptMs } from "../limits/permits.ts";
import { type Attempt, type DeliveryDeps, newRow, rowOf, type SharedByAttempts } from "./shared.ts";

/** A store that is away is tried again after this. Milliseconds. */
const AGAIN_MS = 1000;
/** Later, the sweep looks at the delivery by itself. Milliseconds. */
const GIVE_UP_MS = 60_000;

/**
 * Has an attempt made later that is not made now: its delivery is a pending document that is due in so many milliseconds, and its
 * webhook is drained then. Nothing else holds it. Throws `unavailable`.
 */
export async function putOff(
  platform: DeliveryDeps,
  attempt: Attempt,
  delayMs: number,
  shared: Pick<SharedByAttempts, "park">,
): Promise<void> {
  // The drain that has found it due leaves it due.
  if (attempt.row && !attempt.leaving && delayMs === 0) return;
  await attempt.leaving;
  const row = await rowOf(attempt);
  if (row) await makeDue(platform, row, delayMs);
  else await shared.park({ ...newRow(platform, attempt), ...dueFields(platform, delayMs) });
}

/** Records first attempts that have to wait, and has their webhooks drained when they are due. Throws `unavailable`. */
export async function parkFirstAttempts(platform: DeliveryDeps, waiting: Delivery[]): Promise<void> {
  await insertNew(platform, waiting);
  await enqueueDrains(platform, waiting.map(drainOf));
}

const drainOf = ({ webhook_id, owner_id, next_attempt_at_ms }: Delivery) => ({
  ...{ webhook_id, owner_id },
  dueAtMs: next_attempt_at_ms ?? 0,
});

/** Makes a pending delivery due in so many milliseconds, unless it has moved on. Throws `unavailable`. */
export async function makeDue(platform: DeliveryDeps, row: Delivery, delayMs: number): Promise<void> {
  const { _id, generation } = row;
  const due = dueFields(platform, delayMs);
  await Deliveries(platform.mongo).updateOne(
    // If an attempt was recorded after all, this is another generation.
    { _id, state: "pending", generation },
    { $set: due, $unset: { in_flight_until_ms: 1 } },
  );
  await enqueueDrains(platform, [drainOf({ ...row, ...due })]);
}

/**
 * Makes the deliveries of attempts that outlive their job pending documents that are due once the attempts must have ended, so
 * that nothing else attempts them until then, and a crash loses none. Throws `unavailable`.
 */
export async function leaveJob(platform: DeliveryDeps, slow: Attempt[]): Promise<void> {
  const inFlight = ({ webhook }: Attempt) => {
    const until = platform.clock() + attemptMs(platform, webhook);
    return { next_attempt_at_ms: until, sweep_at_ms: until, in_flight_until_ms: until };
  };
  const unrecorded = slow.filter(({ row }) => row === undefined);
  const rows = unrecorded.map(attempt => ({ ...newRow(platform, attempt), ...inFlight(attempt) }));
  const inserted = insertNew(platform, rows);
  for (const [i, attempt] of unrecorded.entries()) {
    attempt.pending = inserted.then(() => rows[i] as Delivery);
    // Each attempt awaits it when it has ended; a rejection without a listener until then would end the process.
    attempt.pending.catch(() => undefined);
  }
  const updates = slow.flatMap(attempt => {
    if (!attempt.row) return [];
    const { _id, generation } = attempt.row;
    return [
      {
        updateOne: {
          filter: { _id, state: "pending" as const, generation },
          update: { $set: inFlight(attempt) },
        },
      },
    ];
  });
  if (updates.length === 0) {
    await inserted;
    return;
  }
  const updated = Deliveries(platform.mongo).bulkWrite(updates, { ordered: false });
  for (const attempt of slow) if (attempt.row) attempt.leaving = updated.catch(() => undefined);
  await Promise.all([inserted, updated]);
}

/**
 * Has an attempt repeated that failed, by a fault of ours, after its job was over. Its delivery was left to a sweep after the
 * attempt's longest time (docs/design.md#guarantee-5). Tries again while a store is away, until `signal` is aborted, because the
 * worker stops. Never throws.
 */
export async function repeatDetached(
  platform: DeliveryDeps,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<void> {
  const givesUpAt = performance.now() + GIVE_UP_MS;
  do {
    try {
      const row = await rowOf(attempt);
      if (row) await makeDue(platform, row, 0);
      return;
    } catch {
      await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  } while (!signal.aborted && performance.now() < givesUpAt);
}
