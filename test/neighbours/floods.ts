import { newId } from "../../src/lib/ids.ts";
import { type Subscription, Subscriptions } from "../../src/models/subscription.ts";
import { type Webhook, Webhooks } from "../../src/models/webhook.ts";
import { openPublisher } from "../../src/queues/emissions.ts";
import { createWebhook } from "../../src/webhooks/webhooks.ts";
import { createWorkflow } from "../../src/workflows/workflows.ts";
import type { Requests } from "./machine.ts";
import type { Town } from "./town.ts";

/** Ends a flood. */
type Stop = () => Promise<unknown>;

/** One way in which account A makes noise. */
export interface Flood {
  title: string;
  /** Runs in `npm test`, too. */
  isShort?: boolean;
  /** Prepares the flood at a share of its full size, and returns what starts it. */
  prepare(town: Town, share: number): Promise<() => Promise<Stop>>;
}

const JSON_TYPE = { "content-type": "application/json" };
const PUBLISHED_AT_ONCE = 200;

const httpSource = async (town: Town, run: string, more = ""): Promise<{ id: string; url: string }> => {
  const component_code = `export default { name: "Noise", version: "0.0.1",
    props: { http: ${more ? `{ type: "$.interface.http", ${more} }` : '"$.interface.http"'} }, ${run} };`;
  const { id, configured_props } = await town.a.api.createSource({ component_code });
  return { id, url: configured_props.http?.endpoint_url ?? "" };
};

/** Sends requests from A's machine until it is stopped. */
const sending = (town: Town, requests: Requests) => async (): Promise<Stop> => town.machine.send(requests);

/** Creates a workflow of A with this many webhooks at a URL; rows are made in bulk, past the API. */
async function workflowWithWebhooks(town: Town, url: string, count: number, filter: string | null = null) {
  const { platform, a } = town;
  const { id } = await createWorkflow(platform, { ownerId: a.id, name: "noise" });
  const first = await createWebhook(platform, { ownerId: a.id, userId: a.id, url });
  const row = await Webhooks(platform.mongo).findById(first.id).lean();
  const webhooks: Webhook[] = Array.from({ length: count }, () => ({
    ...(row as Webhook),
    _id: newId("wh"),
  }));
  await Webhooks(platform.mongo).insertMany(webhooks);
  await subscribeAll(
    town,
    id,
    webhooks.map(webhook => webhook._id),
    filter,
  );
  return id;
}

async function subscribeAll(
  { platform, a }: Town,
  emitterId: string,
  listenerIds: string[],
  filter: string | null,
): Promise<void> {
  const rows: Subscription[] = listenerIds.map((listener_id, n) => ({
    _id: newId("sub"),
    owner_id: a.id,
    user_id: a.id,
    emitter_id: emitterId,
    listener_id,
    event_name: "",
    filter: filter?.replace("%n", String(n)) ?? null,
    created_at: 0,
  }));
  for (let at = 0; at < rows.length; at += 10_000) {
    await Subscriptions(platform.mongo).insertMany(rows.slice(at, at + 10_000), { ordered: false });
  }
  await platform.routing.invalidate([a.id]);
}

/** Publishes events as a workflow engine does. */
const publishing =
  ({ platform }: Town, emitterId: string, count: number, event: unknown = { n: 1 }) =>
  async (): Promise<Stop> => {
    const publish = openPublisher(platform.queues);
    let isStopped = false;
    const work = async () => {
      let sent = 0;
      while (!isStopped && sent < count) {
        const size = Math.min(PUBLISHED_AT_ONCE, count - sent);
        const some = Array.from({ length: size }, () =>
          publish({ emitter_id: emitterId, emit_id: newId("emit"), event }).catch(() => undefined),
        );
        await Promise.all(some);
        sent += size;
      }
    };
    const done = work();
    return async () => {
      isStopped = true;
      await done;
    };
  };

/** The largest filter that is allowed: some 4 KB of alternatives, none of which matches. */
const heavyFilter = () => {
  const alternatives = Array.from({ length: 80 }, (_, i) => ({ [`a.b.c${i}`]: { $contains: `no-${i}-%n` } }));
  return JSON.stringify({ $or: alternatives });
};

const bodies = (kind: "deep" | "wide" | "binary" | "form" | "multipart", type: string) => ({
  kind,
  headers: { "content-type": type },
});

export const FLOODS: Flood[] = [
  {
    title: "10,000 events to an endpoint that hangs",
    isShort: true,
    async prepare(town, share) {
      const id = await workflowWithWebhooks(town, await town.machine.listen("hang"), 1);
      return publishing(town, id, 10_000 * share);
    },
  },
  {
    title: "1,000 webhooks that fail",
    async prepare(town, share) {
      const id = await workflowWithWebhooks(town, await town.machine.listen("fail"), 1000 * share);
      return publishing(town, id, 30);
    },
  },
  {
    title: "200 sources in endless loops",
    isShort: true,
    async prepare(town, share) {
      const sources = [];
      for (let i = 0; i < 200 * share; i++) sources.push(await httpSource(town, "run() { for (;;); }"));
      const requests = sources.map(({ url }) => ({ url, headers: JSON_TYPE, body: "{}" }));
      return sending(town, { requests, connections: 4, perSecond: 50 });
    },
  },
  {
    title: "runs that emit 10,000 events to 100 webhooks",
    async prepare(town, share) {
      const run = `run() { for (let n = 0; n < ${10_000 * share}; n++) this.$emit({ n }); }`;
      const { id, url } = await httpSource(town, run);
      const ok = await town.machine.listen("ok");
      const { platform, a } = town;
      const webhooks = [];
      for (let i = 0; i < 100 * share; i++) {
        webhooks.push((await createWebhook(platform, { ownerId: a.id, userId: a.id, url: ok })).id);
      }
      await subscribeAll(town, id, webhooks, null);
      return sending(town, {
        requests: [{ url, headers: JSON_TYPE, body: "{}" }],
        connections: 1,
        perSecond: 1,
      });
    },
  },
  {
    title: "deep, wide and binary bodies",
    async prepare(town) {
      const { url } = await httpSource(town, "run(event) { this.$emit(event.body); }");
      const requests = [
        { url, ...bodies("deep", "application/json") },
        { url, ...bodies("wide", "application/json") },
        { url, ...bodies("binary", "application/octet-stream") },
      ];
      return sending(town, { requests, connections: 8 });
    },
  },
  {
    title: "form and multipart bombs",
    isShort: true,
    async prepare(town) {
      const { url } = await httpSource(town, "run() {}");
      const requests = [
        { url, ...bodies("form", "application/x-www-form-urlencoded") },
        { url, ...bodies("multipart", "multipart/form-data; boundary=x") },
      ];
      return sending(town, { requests, connections: 8 });
    },
  },
  {
    title: "50 components with packages saved at once",
    async prepare({ baseUrl, machine, a }, share) {
      const code = (n: string) =>
        `import p from "package-${Number(n) % 10}"; export default { name: "Saved", version: "0.0.1", run() { return p.length + ${n}; } };`;
      const requests = Array.from({ length: 50 * share }, (_, n) => ({
        url: `${baseUrl}/v1/components`,
        headers: { ...JSON_TYPE, authorization: `Bearer ${a.api.apiKey}` },
        body: JSON.stringify({ component_code: code(String(n)) }),
      }));
      return () => machine.send({ requests, connections: requests.length });
    },
  },
  {
    title: "200 event streams",
    async prepare(town, share) {
      const { id, url } = await httpSource(town, "run({ body }) { this.$emit(body); }");
      const headers = { authorization: `Bearer ${town.a.api.apiKey}` };
      const stream = { url: `${town.baseUrl}/v1/sources/${id}/sse`, method: "GET", headers };
      return async () => {
        const streams = await town.machine.send({
          requests: [stream],
          connections: 200 * share,
          keepOpen: true,
          perSecond: 200,
        });
        const event = { url, headers: JSON_TYPE, body: "{}" };
        const events = await town.machine.send({ requests: [event], connections: 4, perSecond: 50 });
        return async () => [await streams(), await events()];
      };
    },
  },
  {
    title: "100,000 subscriptions to one source",
    async prepare(town, share) {
      const id = await workflowWithWebhooks(town, await town.machine.listen("ok"), 1);
      const listeners = Array.from({ length: 100_000 * share }, () => newId("p"));
      await subscribeAll(town, id, listeners, '{"never":"%n"}');
      return publishing(town, id, 20);
    },
  },
  {
    title: "100 timers of one second",
    async prepare({ a }, share) {
      const component_code = `export default { name: "Tick", version: "0.0.1",
        props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } } }, run() { this.$emit(1); } };`;
      const ids: string[] = [];
      for (let i = 0; i < 100 * share; i++) ids.push((await a.api.createSource({ component_code })).id);
      return async () => async () => {
        for (const id of ids) await a.api.request("DELETE", `/sources/${id}`);
      };
    },
  },
  {
    title: "responses of 5 MB",
    async prepare(town) {
      const run = 'run() { this.http.respond({ status: 200, body: "x".repeat(5e6) }); }';
      const { url } = await httpSource(town, run, "customResponse: true");
      return sending(town, { requests: [{ url, headers: JSON_TYPE, body: "{}" }], connections: 8 });
    },
  },
  {
    title: "a flood of unknown API keys",
    isShort: true,
    async prepare(town) {
      const url = `${town.baseUrl}/v1/users/me`;
      const requests = [{ url, method: "GET", headers: { authorization: "Bearer hw_unknown%n" } }];
      return sending(town, { requests, connections: 16 });
    },
  },
  {
    title: "a flood of idempotency keys",
    async prepare(town) {
      const url = `${town.baseUrl}/v1/webhooks`;
      const authorization = `Bearer ${town.a.api.apiKey}`;
      const body = JSON.stringify({ url: "https://example.test/", description: "x".repeat(200) });
      const headers = { ...JSON_TYPE, authorization, "idempotency-key": "key-%n" };
      return sending(town, { requests: [{ url, headers, body }], connections: 8 });
    },
  },
  {
    title: "filters as heavy as allowed",
    async prepare(town, share) {
      const url = await town.machine.listen("ok");
      const id = await workflowWithWebhooks(town, url, 200 * share, heavyFilter());
      const b = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`c${i}`, "no-".repeat(100)]));
      const events = Array.from({ length: 50 }, () => ({ event: { a: { b } } }));
      const request = {
        url: `${town.baseUrl}/v1/workflows/${id}/events`,
        headers: { ...JSON_TYPE, authorization: `Bearer ${town.a.api.apiKey}` },
        body: JSON.stringify({ events }),
      };
      return sending(town, { requests: [request], connections: 8 });
    },
  },
  {
    title: "requests as fast as a source accepts them",
    async prepare(town) {
      const { id, url } = await httpSource(town, "run({ body }) { this.$emit(body); }");
      const webhook = await town.a.api.createWebhook(await town.machine.listen("ok"));
      await town.a.api.subscribe(id, webhook.id);
      return sending(town, { requests: [{ url, headers: JSON_TYPE, body: '{"n":1}' }], connections: 16 });
    },
  },
];
