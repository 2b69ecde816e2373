import type { Api } from "../test/support/api.ts";
import { startSystem } from "../test/support/system.ts";
import { buildCrowd, type Crowd, type Known } from "./crowd.ts";
import { quantile, timesOf } from "./times.ts";

type Query = Record<string, string>;
type Case = [what: string, path: string, query: Query];

/** What issue 32 asks for, at full size. */
const FULL = { sources: 10_000, webhooks: 10_000, subscriptions: 100_000, deliveries: 5_000_000 };
/** Every list, filter and search responds within this. Milliseconds, p95. */
const AIM_MS = 100;

function casesOf({ source, webhook, subscription, delivery, eventId, emitId }: Known): Case[] {
  const list = (things: string, ...queries: Query[]): Case[] =>
    queries.map(query => [`${things} ${textOf(query)}`, `/users/me/${things}`, query]);
  const deliveries = (...queries: Query[]): Case[] =>
    queries.map(query => [`deliveries ${textOf(query)}`, "/deliveries", query]);
  const search = (...texts: string[]): Case[] => texts.map(q => [`search ${q}`, "/search", { q }]);
  return [
    ...list("sources", {}, { active: "false" }, { q: "refunds" }, { q: "nothing of the kind" }),
    ...list("sources", { sort: "last_event" }, { sort: "last_error", active: "true" }),
    ...list("webhooks", { sort: "last_event" }, { sort: "last_error", state: "failing" }),
    ...list("webhooks", {}, { state: "active" }, { state: "failing" }, { state: "disabled" }),
    ...list("webhooks", { q: "refunds" }, { q: "customer-77.example" }, { q: "nothing", state: "failing" }),
    ...list("subscriptions", { limit: "25" }, { limit: "25", emitter_id: source }),
    ...list("subscriptions", { limit: "25", listener_id: webhook }, { limit: "25", q: "customer 77" }),
    ...list("subscriptions", { limit: "25", q: "refunds" }, { limit: "25", q: "nothing of the kind" }),
    ...list("subscriptions", { limit: "25", sort: "emitter" }, { limit: "25", sort: "last_error" }),
    ...list("subscriptions", { limit: "25", sort: "listener", q: "customer 77" }),
    ...list("subscriptions", { limit: "25", sort: "last_error", q: "refunds" }),
    ...deliveries(
      {},
      { expand: "preview" },
      { state: "failed" },
      { webhook_id: webhook },
      { event_id: eventId },
    ),
    ...deliveries({ subscription_id: subscription }, { emitter_id: source, webhook_id: webhook }),
    ...deliveries({ text: "order-500" }),
    ...search(delivery, delivery.slice(0, 14), eventId, emitId, source, webhook, subscription),
    ...search(source.slice(0, 12), "refunds", "customer 77", "customer-77.example.com", "order-500"),
    ...search("nothing of the kind", "e"),
  ];
}

const textOf = (query: Query) =>
  Object.entries(query)
    .filter(([name]) => name !== "limit")
    .map(([name, value]) => `${name}=${value}`)
    .join(" ") || "(all)";

/** Returns how many of each kind there are at a scale, perhaps with another number of deliveries. */
export function crowdOf(scale: number, deliveries = FULL.deliveries * scale): Crowd {
  const scaled = (count: number) => Math.max(100, Math.round(count * scale));
  return {
    sources: scaled(FULL.sources),
    webhooks: scaled(FULL.webhooks),
    subscriptions: scaled(FULL.subscriptions),
    deliveries: Math.round(deliveries),
  };
}

/** Measures every list, filter and search of an account that has so many of everything. */
export async function measureCrowdedLists(crowd: Crowd, requests: number): Promise<void> {
  const system = await startSystem({ RATE_LIMITS: "api:0", PAYLOAD_SEARCH_WORDS: "8" }, { workers: false });
  try {
    const api = await system.user({ plan: "paid" });
    const known = await buildCrowd(system.web, api.userId, crowd, console.log);
    let slow = 0;
    for (const one of casesOf(known)) slow += (await measureOne(api, one, requests)) ? 0 : 1;
    console.log(slow === 0 ? `all within ${AIM_MS} ms p95` : `${slow} beyond ${AIM_MS} ms p95`);
  } finally {
    await system.stop();
  }
}

async function measureOne(api: Api, [what, path, query]: Case, requests: number): Promise<boolean> {
  let rows = 0;
  const times = await timesOf(requests, async () => {
    const { status, body } = await api.request("GET", path, { query });
    if (status !== 200) throw new Error(`${path}: status ${status}`);
    rows = (body.data.hits ?? body.data).length;
  });
  const [p50, p95] = [quantile(times, 0.5), quantile(times, 0.95)];
  console.log(
    `${what.padEnd(60)} ${String(rows).padStart(4)} rows   p50 ${p50.toFixed(1).padStart(6)} ms   p95 ${p95.toFixed(1).padStart(6)} ms`,
  );
  return p95 <= AIM_MS;
}
