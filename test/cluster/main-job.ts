import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { allQueues } from "../../src/queues/index.ts";
import { headwater } from "../cli/command.ts";
import { signIn } from "../ops/admin.ts";
import type { Api, SourceView } from "../support/api.ts";
import { until } from "../support/until.ts";
import { BOARD_PASSWORD, type ClusterLab, METRICS_TOKEN } from "./lab.ts";

const COUNTED = `export default { name: "Counted", version: "0.0.1", dedupe: "unique",
  props: { http: "$.interface.http", db: "$.service.db" },
  run({ body }) { this.db.set("last", body.key); this.$emit(body, { id: body.key }); } };`;
const RESPONDING = `export default { name: "Responding", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run() { this.http.respond({ status: 201, body: "made" }); } };`;
const TICKING = `export default { name: "Ticking", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } }, db: "$.service.db" },
  run() {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ key: "tick " + n });
  } };`;

const EVENTS = 20;

/** Tests of everything that an installation does, each over two web processes; `isShort`: of what takes both to show. */
export function describeMainJob(labOf: () => ClusterLab, { isShort = false } = {}): void {
  let first: Api;
  let second: Api;
  let source: SourceView;

  before(async () => {
    const { apis } = await labOf().user("main");
    [first, second] = apis as [Api, Api];
    source = await first.createSource({ component_code: COUNTED });
    const webhook = await second.createWebhook(labOf().receiver.urlOf("/counted"));
    await first.subscribe(source.id, webhook.id);
  });

  const endpointOf = ({ configured_props: { http } }: SourceView) =>
    new URL(http?.endpoint_url ?? "").pathname;

  /** Sends one event to a web process. */
  async function post(web: number, to: SourceView, key: string): Promise<Response> {
    return await fetch(`${labOf().webs[web]}${endpointOf(to)}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ key }),
    });
  }

  it("delivers an event of either web process once, and streams it live from the other", async () => {
    const { receiver } = labOf();
    const streams = [await watch(first, source.id), await watch(second, source.id)];
    try {
      for (let n = 0; n < EVENTS; n++) expect((await post(n % 2, source, `key ${n}`)).status).to.equal(200);
      await until(() => receiver.at("/counted").size === EVENTS, { what: "all events at the webhook" });
      for (const { webhookIds, eventIds } of receiver.at("/counted").values()) {
        expect([webhookIds.size, eventIds.size]).to.deep.equal([1, 1]);
      }
      for (const { ids } of streams) await until(() => ids().size === EVENTS, { what: "all events live" });
      const [one, other] = await Promise.all([first, second].map(api => api.summaries(source.id)));
      expect(one).to.have.length(EVENTS).and.to.deep.equal(other);
    } finally {
      for (const stream of streams) stream.stop();
    }
  });

  it("repeats no keyed creation, whichever web process is asked", async () => {
    const create = (api: Api) =>
      api.expect(201, "POST", "/webhooks", {
        body: { url: labOf().receiver.urlOf("/keyed") },
        headers: { "idempotency-key": "once" },
      });
    const { id } = await create(first);
    expect((await create(second)).id).to.equal(id);
  });

  if (isShort) return;

  it("publishes, and runs a component that responds itself, on either web process", async () => {
    const { receiver } = labOf();
    const workflow = await first.expect(201, "POST", "/workflows", { body: { name: "Published" } });
    const webhook = await first.createWebhook(receiver.urlOf("/published"));
    await second.subscribe(workflow.id, webhook.id);
    for (const [i, api] of [first, second, second].entries()) {
      const body = { id: `publish-${Math.min(i, 1)}`, event: { key: `publish ${Math.min(i, 1)}` } };
      await api.expect(202, "POST", `/workflows/${workflow.id}/events`, { body });
    }
    await until(() => receiver.at("/published").size === 2, { what: "both events" });
    for (const { webhookIds } of receiver.at("/published").values()) expect(webhookIds.size).to.equal(1);
    const responding = await first.createSource({ component_code: RESPONDING });
    for (const web of [0, 1]) expect((await post(web, responding, "x")).status).to.equal(201);
  });

  it("ticks, and delivers what the timer emits", async () => {
    const { receiver } = labOf();
    const timer = await second.createSource({ component_code: TICKING });
    await second.subscribe(timer.id, (await first.createWebhook(receiver.urlOf("/ticks"))).id);
    await until(() => receiver.at("/ticks").size >= 2, { what: "two ticks" });
    await first.expect(204, "DELETE", `/sources/${timer.id}`);
  });

  it("deletes a range of events", async () => {
    await second.expect(202, "DELETE", `/sources/${source.id}/events`);
    await until(async () => (await first.summaries(source.id)).length === 0, { what: "no events" });
  });

  it("shows the board, metrics and readiness on each web process, and the command line checks the stores", async () => {
    const { webs, env } = labOf();
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    for (const web of webs) {
      const cookie = await signIn(web, BOARD_PASSWORD);
      const board = await fetch(`${web}/admin/queues/api/queues`, { headers: { cookie } });
      const { queues } = (await board.json()) as { queues: { name: string }[] };
      expect(queues.map(({ name }) => name)).to.have.members(allQueues.map(({ name }) => name));
      expect(await (await fetch(`${web}/metrics`, { headers })).text()).to.match(
        /^headwater_redis_memory_used_ratio 0/m,
      );
      expect((await fetch(`${web}/readyz`)).status).to.equal(200);
    }
    const { stdout } = await headwater(["doctor"], env);
    expect(stdout).to.match(/^ok +MongoDB: version/m);
    expect(stdout).to.match(/^ok +Redis: version/m);
    expect(stdout).to.match(/^ok +queue deliveries: /m);
  });

  it("emits by the command line, and traces what became of the event", async () => {
    const { receiver, env, webs } = labOf();
    const workflow = await first.expect(201, "POST", "/workflows", { body: { name: "By command" } });
    await first.subscribe(workflow.id, (await second.createWebhook(receiver.urlOf("/command"))).id);
    const emitted = await headwater(["emit", workflow.id, "--event", '{"key":"typed"}'], env);
    expect(emitted.code, emitted.stderr).to.equal(0);
    const arrival = await until(() => receiver.at("/command").get("typed"), { what: "the event" });
    const [deliveryId = ""] = arrival.webhookIds;
    const at = { HEADWATER_URL: webs[1] ?? "", HEADWATER_API_KEY: second.apiKey };
    await until(async () => /: delivered$/m.test((await headwater(["trace", deliveryId], at)).stdout), {
      what: "its trace",
    });
  });

  it("counts the requests with a key at all web processes together", async () => {
    const leftAt = async (api: Api) => {
      const { status, headers } = await api.request("GET", "/users/me");
      expect(status).to.equal(200);
      return Number(headers.get("ratelimit-remaining"));
    };
    // The count restarts each second, so the second request may be the first of its count; then another key is used.
    let keys = 0;
    const isShared = async () => {
      const { apis } = await labOf().user(`counted-${++keys}`);
      const [one = 0, other = 0] = [await leftAt(apis[0] as Api), await leftAt(apis[1] as Api)];
      return other === one - 1;
    };
    await until(isShared, { what: "a request to the other web process in the count" });
  });

  it("starts as many runs by hand as an account may, at all web processes together", async () => {
    const { id } = await first.createSource({ component_code: TICKING });
    const statusAt = async (api: Api) =>
      (await api.request("POST", `/sources/${id}/run`, { body: {} })).status;
    const most = LIMITS.runsByHand.value;
    const statuses = await Promise.all(
      Array.from({ length: most + 10 }, (_, n) => statusAt(n % 2 === 0 ? first : second)),
    );
    expect(statuses.filter(status => status === 202)).to.have.length(most);
    expect(statuses.filter(status => status === 429)).to.have.length(10);
    for (const api of [first, second]) expect(await statusAt(api)).to.equal(429);
    await first.expect(204, "DELETE", `/sources/${id}`);
  });

  // The last: for a while this address can sign in no more.
  it("limits guesses at all web processes together", async () => {
    const { webs } = labOf();
    const signInAt = async (web: number, password: string) =>
      await signIn(webs[web] ?? "", password).catch(error => (error as Error).message);
    const wrong = Array.from({ length: LIMITS.boardGuesses.value }, (_, i) => signInAt(0, `wrong ${i}`));
    expect(new Set(await Promise.all(wrong))).to.deep.equal(new Set(["sign-in returned 401"]));
    expect(await signInAt(1, BOARD_PASSWORD)).to.equal("sign-in returned 429");
  });
}

/** Reads a source's events live from one web process; resolves when it watches. */
async function watch(api: Api, sourceId: string) {
  const stop = new AbortController();
  const response = await fetch(`${api.baseUrl}/sources/${sourceId}/sse`, {
    headers: { authorization: `Bearer ${api.apiKey}` },
    signal: stop.signal,
  });
  let text = "";
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? [])
      text += decoder.decode(chunk as Uint8Array, { stream: true });
  };
  read().catch(() => undefined);
  await until(() => text.includes("watching"), { what: "a stream" });
  return {
    ids: () => new Set([...text.matchAll(/^id: (.+)$/gm)].map(([, id]) => id)),
    stop: () => stop.abort(),
  };
}
