import mongoose from "mongoose";
import type { Ends } from "./ends.ts";
import {
  type Figures,
  figuresOf,
  type Load,
  POLL_MS,
  requestFrom,
  sendAll,
  sendAndWait,
  startMeterOf,
  WARM_UP_DELIVERIES,
  whenReceived,
} from "./measure.ts";
import type { Received } from "./processes/receiver.ts";
import { countRoundTrips, divided } from "./round-trips.ts";
import type { Side } from "./side.ts";
import type { Stores } from "./stores.ts";

/** How long the endpoint takes to respond while a backlog grows: too long for any attempt to wait its turn. */
const HELD_MS = 3000;

/**
 * Sends the load to an endpoint that takes long to respond, waits until all deliveries but those in flight are on its webhook's
 * waitlist, and returns the figures from the moment when it responds at once.
 */
export async function measureWaitlist(side: Side, load: Load, ends: Ends): Promise<Figures> {
  const { receiver } = ends;
  await sendAndWait(side, { ...load, events: Math.min(load.events, WARM_UP_DELIVERIES) }, ends);
  await requestFrom(receiver, { do: "respond-after", ms: HELD_MS });
  const sent = await sendAll(side, load, ends);
  await whenParked(side.stores, sent.accepted, () => requestFrom<number>(receiver, { do: "progress" }));
  const before = await requestFrom<Received>(receiver, { do: "figures" });
  const stopMeter = startMeterOf(side, ends);
  const { result: releasedAtMs, counts } = await countRoundTrips(side.stores, async () => {
    const now = Date.now();
    await requestFrom(receiver, { do: "respond-after", ms: 0 });
    await whenReceived(receiver, sent.accepted);
    await side.whenIdle();
    return now;
  });
  const reading = stopMeter();
  const after = await requestFrom<Received>(receiver, { do: "figures" });
  const received = { ...after, received: after.received - before.received };
  const figures = figuresOf(load, { ...sent, startedAtMs: releasedAtMs }, received, reading);
  return {
    ...figures,
    acceptedPerSecond: (sent.accepted * 1000) / (sent.endedAtMs - sent.startedAtMs),
    lost: sent.accepted - after.received,
    roundTrips: divided(counts, Math.max(1, received.received)),
  };
}

/** All deliveries of a held endpoint are on the waitlist after this time. */
const PARKED_MS = 120_000;
/** Deliveries that may be on their way to the waitlist. */
const NOT_PARKED = 64;

/** Resolves once all that was accepted has been received or is a pending delivery. */
async function whenParked(
  stores: Stores,
  accepted: number,
  receivedNow: () => Promise<number>,
): Promise<void> {
  const mongo = await mongoose.createConnection(stores.mongodbUrl).asPromise();
  try {
    const deadline = performance.now() + PARKED_MS;
    while (performance.now() < deadline) {
      const pending = await mongo.collection("deliveries").countDocuments({ state: "pending" });
      if (pending + (await receivedNow()) >= accepted - NOT_PARKED) return;
      await new Promise(resolve => setTimeout(resolve, 10 * POLL_MS));
    }
    throw new Error("the deliveries did not all join the waitlist");
  } finally {
    await mongo.close();
  }
}
