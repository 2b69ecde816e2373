import { setTimeout as delay } from "node:timers/promises";
import { Deliveries, type Delivery } from "../../models/delivery.ts";
import type { Calling, Working } from "../../platform.ts";
import { drainWhenDue, dueFields } from "../attempt/due-fields.ts";
import { insertNew } from "../attempt/record.ts";
import { attemptMs } from "../limits/permits.ts";
import { type Attempt, newRow, rowOf, type SharedByAttempts } from "./shared.ts";

/** A store that is away is tried again after this. Milliseconds. */
const AGAIN_MS = 1000;
/** Later, the sweep looks at the delivery by itself. Milliseconds. */
const GIVE_UP_MS = 60_000;

/**
 * Has an attempt made later that is not made now: its delivery is a pending document that is due in so many milliseconds, and its
 * webhook is drained then. Nothing else holds it. Throws `unavailable`.
 */
export async function putOff(
  platform: Working & Calling,
  attempt: Attempt,
  delayMs: number,
  shared: Pick<SharedByAttempts, "park">,
): Promise<void> {
  // The drain that has found it due leaves it due.
  if (attempt.row && !attempt.pending && delayMs === 0) return;
  const row = await rowOf(attempt);
  if (row) await makeDue(platform, row, delayMs);
  else await shared.park({ ...newRow(platform, attempt), ...dueFields(platform, delayMs) });
}

/** Records first attempts that have to wait, and has their webhooks drained when they are due. Throws `unavailable`. */
export async function parkFirstAttempts(platform: Working & Calling, waiting: Delivery[]): Promise<void> {
  await insertNew(platform, waiting);
  await drainWhenDue(platform, waiting);
}

/** Makes a pending delivery due in so many milliseconds, unless it has moved on. Throws `unavailable`. */
export async function makeDue(platform: Working & Calling, row: Delivery, delayMs: number): Promise<void> {
  const { _id, generation } = row;
  const due = dueFields(platform, delayMs);
  await Deliveries(platform.mongo).updateOne(
    // If an attempt was recorded after all, this is another generation.
    { _id, state: "pending", generation },
    { $set: due, $unset: { in_flight_until_ms: 1 } },
  );
  await drainWhenDue(platform, [{ ...row, ...due }]);
}

/**
 * Makes the deliveries of attempts that outlive their job pending documents that are due once the attempts must have ended, so
 * that nothing else attempts them until then, and a crash loses none. Throws `unavailable`.
 */
export async function leaveJob(platform: Working & Calling, slow: Attempt[]): Promise<void> {
  const rows = slow.map((attempt): Delivery => {
    const until = platform.clock() + attemptMs(platform, attempt.webhook);
    const row = attempt.row ?? newRow(platform, attempt);
    return { ...row, next_attempt_at_ms: until, sweep_at_ms: until, in_flight_until_ms: until };
  });
  const isStored = (_: unknown, i: number) => slow[i]?.row !== undefined;
  const written = Promise.all([
    insertNew(
      platform,
      rows.filter((row, i) => !isStored(row, i)),
    ),
    updateInFlight(platform, rows.filter(isStored)),
  ]);
  for (const [i, attempt] of slow.entries()) {
    const row = rows[i] as Delivery;
    // A stored delivery takes its result all the same.
    attempt.pending = written.then(
      () => row,
      error => attempt.row ?? Promise.reject(error),
    );
    // Each attempt awaits it when it has ended; a rejection without a listener until then would end the process.
    attempt.pending.catch(() => undefined);
  }
  await written;
}

/** Writes until when attempts of stored deliveries are in flight, but for deliveries that have moved on. */
async function updateInFlight({ mongo }: Working & Calling, rows: Delivery[]): Promise<void> {
  if (rows.length === 0) return;
  await Deliveries(mongo).bulkWrite(
    rows.map(({ _id, generation, next_attempt_at_ms, sweep_at_ms, in_flight_until_ms }) => ({
      updateOne: {
        filter: { _id, state: "pending", generation },
        update: { $set: { next_attempt_at_ms, sweep_at_ms, in_flight_until_ms } },
      },
    })),
    { ordered: false },
  );
}

/**
 * Has an attempt repeated that failed, by a fault of ours, after its job was over. Its delivery was left to a sweep after the
 * attempt's longest time (docs/design.md#guarantee-5). Tries again while a store is away, until `signal` is aborted, because the
 * worker stops. Never throws.
 */
export async function repeatDetached(
  platform: Working & Calling,
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
