import { LRUCache } from "lru-cache";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { note } from "../output.ts";
import { stopSignal } from "../run.ts";

type Delivery = Schemas["Delivery"];

/** Fields by which a delivery that is sent as it happens is chosen. */
const FILTERS = [
  "state",
  "webhook_id",
  "issue_id",
  "emitter_id",
  "event_id",
  "subscription_id",
  "event_name",
] as const satisfies (keyof Delivery)[];

type Query = { [filter in (typeof FILTERS)[number]]?: string } & { limit: number };

/** Of so many it is known what was shown. */
const MOST_SHOWN = 10_000;

/**
 * Yields the last deliveries, the oldest first, and then each one that is recorded or changes, until the process is told to end. The list
 * is read whenever the stream begins: what happened while the connection was lost is yielded, too.
 */
export async function* followDeliveries(client: Headwater, query: Query): AsyncGenerator<Delivery> {
  const shown = new LRUCache<string, string>({ max: MOST_SHOWN });
  const isNew = (delivery: Delivery) => {
    const now = JSON.stringify([delivery.state, delivery.attempts_made, delivery.next_attempt_at_ms]);
    const isShown = shown.get(delivery.id) === now;
    shown.set(delivery.id, now);
    return !isShown;
  };
  const isWanted = (delivery: Delivery) =>
    FILTERS.every(filter => query[filter] === undefined || delivery[filter] === query[filter]);
  for await (const message of client.watch({ deliveries: true, signal: stopSignal() })) {
    if (message.type === "ready") {
      const { data } = await client.deliveries.list(query as Parameters<typeof client.deliveries.list>[0]);
      yield* data.reverse().filter(isNew);
    } else if (message.type === "delivery" && isWanted(message.delivery) && isNew(message.delivery)) {
      yield message.delivery;
    } else if (message.type === "skipped" && message.deliveries > 0) {
      note(`${message.deliveries} changes of deliveries were too many to show.`);
    }
  }
}
