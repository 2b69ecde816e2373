import { firstIdAt, newId } from "../src/lib/ids.ts";
import { wordsOfText } from "../src/lib/payload-words.ts";
import type { Platform } from "../src/platform.ts";

/** How many of each kind an account has. */
export interface Crowd {
  sources: number;
  webhooks: number;
  subscriptions: number;
  deliveries: number;
}

/** What somebody may look for in the crowd. */
export interface Known {
  source: string;
  webhook: string;
  subscription: string;
  delivery: string;
  eventId: string;
  emitId: string;
}

const BATCH = 10_000;
const MONTH_MS = 29 * 86_400_000;
/** One of so many deliveries has an event with a word of its own. */
const STORED = 50;
const NOUNS = ["orders", "refunds", "invoices", "leads", "tickets", "shipments", "logins", "alerts"];
const nounOf = (n: number) => NOUNS[n % NOUNS.length] ?? "";
/** 5 % fail, 2 % are disabled. */
const isFailing = (n: number) => n % 20 === 3;
const isDisabled = (n: number) => n % 50 === 7;

/** Builds the account's rows in bulk, as requests would have made them; ids are in the order of their numbers. */
export async function buildCrowd(
  { mongo, secrets }: Platform,
  owner: string,
  crowd: Crowd,
  print: (line: string) => void,
): Promise<Known> {
  const now = Date.now();
  const props = secrets.seal("{}");
  const idsOf = (prefix: "dc" | "wh" | "sub", count: number) =>
    Array.from({ length: count }, (_, n) => newId(prefix, now - count + n));
  const [sources, webhooks, subscriptions] = [
    idsOf("dc", crowd.sources),
    idsOf("wh", crowd.webhooks),
    idsOf("sub", crowd.subscriptions),
  ];
  const at = <Thing>(things: Thing[], n: number): Thing => things[n % things.length] as Thing;
  const insert = async (name: string, count: number, row: (n: number) => object) => {
    const rows = mongo.collection(name);
    for (let first = 0; first < count; first += BATCH) {
      const length = Math.min(BATCH, count - first);
      await rows.insertMany(Array.from({ length }, (_, n) => row(first + n)) as never, { ordered: false });
    }
    print(`${count} ${name}`);
  };
  const owned = { owner_id: owner, user_id: owner, created_at: 1_700_000_000, updated_at: 1_700_000_000 };
  const lastTimes = (n: number) =>
    n % 3 === 0
      ? {}
      : { last_event_ms: now - ((n * 7919) % MONTH_MS), last_error_ms: now - ((n * 104_729) % MONTH_MS) };
  await insert("sources", crowd.sources, n => ({
    ...{ ...owned, _id: sources[n], component_id: "sc_x", component_url: null, name: `${nounOf(n)} ${n}` },
    ...{ name_slug: `${nounOf(n)}-${n}`, configured_props: props, dynamic_props: null, endpoint: null },
    ...{ timer: null, active: n % 10 !== 0, state: "ready", change_id: null, failing: null },
    ...lastTimes(n),
  }));
  await insert("webhooks", crowd.webhooks, n => ({
    ...{ ...owned, _id: webhooks[n], name: `${nounOf(n)} of customer ${n}`, description: null },
    ...{ url: `https://customer-${n}.example.com/hooks/${nounOf(n)}`, active: !isDisabled(n) },
    ...{ disabled_reason: null, signing_keys: [], headers: null, header_names: [], ordered: false },
    ...{ failing_since_ms: isFailing(n) ? now : null, ...lastTimes(n) },
  }));
  await insert("subscriptions", crowd.subscriptions, n => ({
    ...{ ...owned, _id: subscriptions[n], emitter_id: at(sources, n), event_name: `channel-${n}` },
    ...{ listener_id: at(webhooks, Math.floor(n / 10)), filter: null },
  }));
  const atMs = (n: number) => now - MONTH_MS + Math.floor((n / crowd.deliveries) * MONTH_MS);
  const deliveryOf = (n: number) => `${firstIdAt("dlv", atMs(n))}${String(n).padStart(9, "0")}`;
  const eventOf = (n: number) => `${atMs(n)}-${n % 1024}`;
  const emitOf = (n: number) => `emit-${n}`;
  await insert("deliveries", crowd.deliveries, n => {
    const status = n % 17 === 0 ? 503 : 200;
    const attempt = { number: 1, at_ms: atMs(n), trigger: "schedule", status, latency_ms: 40, error: null };
    return {
      ...{
        _id: deliveryOf(n),
        webhook_id: at(webhooks, n * 7),
        owner_id: owner,
        subscription_id: at(subscriptions, n),
      },
      ...{ emitter_id: at(sources, n), emit_id: `${at(sources, n)}-${emitOf(n)}`, event_id: eventOf(n) },
      ...{ event_name: "", event_score: 0, state: status === 200 ? "delivered" : "failed", reason: null },
      ...{ generation: 1, retry_index: 1, trigger: "schedule", attempts: [{ ...attempt, response: "" }] },
      ...{ next_attempt_at_ms: null, sweep_at_ms: null, created_at: new Date(now), finished_at_ms: atMs(n) },
    };
  });
  await insert("events", Math.floor(crowd.deliveries / STORED), k => {
    const n = k * STORED;
    const emitter_id = at(sources, n);
    return {
      ...{ _id: `${emitter_id}-${emitOf(n)}`, emitter_id, owner_id: owner, event_id: eventOf(n), name: "" },
      ...{ score: atMs(n) * 1024 + (n % 1024), event: `{"order":"order-${n}"}`, has_webhook_listeners: true },
      ...{ words: wordsOfText(`order-${n} ${nounOf(n)}`), created_at: new Date(now) },
    };
  });
  const middle = Math.floor(crowd.deliveries / STORED / 2) * STORED;
  return {
    source: at(sources, middle),
    webhook: at(webhooks, middle * 7),
    subscription: at(subscriptions, middle),
    delivery: deliveryOf(middle),
    eventId: eventOf(middle),
    emitId: emitOf(middle),
  };
}
