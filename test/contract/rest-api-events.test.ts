import { expect } from "chai";
import { newId } from "../../src/lib/ids.ts";
import { enqueue } from "../../src/queues/define-queue.ts";
import { type Emission as AnyEmission, emissions } from "../../src/queues/emissions.ts";
import type { Page, Summary } from "../support/api.ts";
import { until } from "../support/until.ts";
import { openWorld } from "./open-world.ts";
import { isIdOf, names, rejected } from "./shapes.ts";
import { newCode, type Owner, thing } from "./things.ts";

type Emission = Partial<Pick<AnyEmission, "name" | "summary">>;

/** docs/rest-api.md#events, docs/rest-api.md#source-events and docs/rest-api.md#workflows */
describe("events", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let api: Owner["api"];

  before(async () => {
    world = await openWorld({ workers: true });
    api = await world.system.user();
  });
  after(() => world.close());

  /** Emits events as a run of a source or a workflow engine does, and waits until all are stored. */
  async function emit(emitterId: string, events: unknown[], more: Emission = {}): Promise<string[]> {
    const { queues, eventLog } = world.system.worker;
    const emitIds = events.map(() => newId("emit"));
    for (const [i, event] of events.entries()) {
      await enqueue(queues, emissions.jobs.emissions, {
        emitter_id: emitterId,
        emit_id: emitIds[i] ?? "",
        event,
        ...more,
      });
    }
    const stream = more.name === "$errors" ? "errors" : more.name === "$logs" ? "logs" : "emits";
    await until(
      async () => {
        const { rows } = await eventLog.page(emitterId, stream, { limit: 100 });
        const stored = new Set(rows.map(row => row.metadata.emit_id));
        return emitIds.slice(-100).every(id => stored.has(id)) || stored.size === 100;
      },
      { what: "all events stored" },
    );
    return emitIds;
  }
  const read = async (path: string, query: Record<string, string | number> = {}) => {
    const { status, body, text } = await api.request<Page<Summary>>("GET", path, { query });
    expect(status, text).to.equal(200);
    return body;
  };
  const source = () => thing("source").make(world, { api });
  const workflow = () => thing("workflow").make(world, { api });

  for (const [what, make] of [
    ["sources", source],
    ["workflows", workflow],
  ] as const) {
    describe(`of ${what}`, () => {
      it("are listed with their id, time, data and metadata", async () => {
        const id = await make();
        const [emitId] = await emit(id, [{ hello: "world" }]);
        const { data } = await read(`/${what}/${id}/event_summaries`);
        expect(data).to.have.length(1);
        const [{ id: eventId, indexed_at_ms, ...rest } = {} as Summary] = data;
        expect(eventId).to.match(/^[0-9]{13}-[0-9]+$/);
        expect(indexed_at_ms).to.equal(Number(eventId.split("-")[0]));
        expect(rest).to.deep.equal({
          event: { raw_event: { hello: "world" } },
          metadata: { emit_id: emitId, name: "", emitter_id: id },
        });
      });

      it("are listed for all channels without $; errors are listed under $errors and %24errors", async () => {
        const id = await make();
        await emit(id, ["a"]);
        await emit(id, ["b"], { name: "news", summary: "a line" });
        const error = {
          original_event: { a: 1 },
          original_context: { id: "x" },
          error: { code: "Odd", stack: "s" },
        };
        await emit(id, [error], { name: "$errors" });
        const { data } = await read(`/${what}/${id}/event_summaries`);
        expect(data.map(row => row.metadata.name).sort()).to.deep.equal(["", "news"]);
        const errors = await read(`/${what}/${id}/$errors/event_summaries`);
        expect(errors.data.map(row => [row.metadata.name, row.event])).to.deep.equal([["$errors", error]]);
        expect(await read(`/${what}/${id}/%24errors/event_summaries`)).to.deep.equal(errors);
      });

      it("larger than 1 KB are truncated to the same shape, and complete with expand=event", async () => {
        const id = await make();
        const large = {
          text: "x".repeat(5000),
          list: Array.from({ length: 500 }, (_, n) => n),
          deep: { a: { b: "é".repeat(900) } },
        };
        const others = [
          "x".repeat(3000),
          Array(900).fill("y"),
          Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`k${n}`, n])),
        ];
        await emit(id, [large, ...others, { tiny: true }]);
        for (const row of (await read(`/${what}/${id}/event_summaries`)).data) {
          expect(Buffer.byteLength(JSON.stringify(row.event))).to.be.at.most(1024);
          expect(row.event).to.have.all.keys("raw_event");
          expect(row.metadata.truncated).to.equal(row.event.raw_event.tiny ? undefined : true);
        }
        const expanded = await read(`/${what}/${id}/event_summaries`, { expand: "event" });
        expect(expanded.data.map(row => row.event.raw_event)).to.have.deep.members([
          large,
          ...others,
          { tiny: true },
        ]);
        expect(expanded.data.some(row => "truncated" in row.metadata)).to.equal(false);
        names(
          await api.request("GET", `/${what}/${id}/event_summaries`, { query: { expand: "all" } }),
          "query expand",
        );
      });

      it("are listed up to the last 100", async () => {
        const id = await make();
        await emit(
          id,
          Array.from({ length: 104 }, (_, n) => n),
        );
        await until(async () => (await read(`/${what}/${id}/event_summaries`)).page_info.total_count === 100);
        expect((await read(`/${what}/${id}/event_summaries`)).data).to.have.length(100);
        expect((await read(`/${what}/${id}/event_summaries`, { limit: 3 })).data).to.have.length(3);
      });
    });
  }

  it("are listed with the short field names e, k and ts too", async () => {
    const id = await source();
    const [emitId] = await emit(id, [{ n: "x".repeat(2000) }]);
    await emit(id, ["b"], { name: "news" });
    const { data, page_info } = await read(`/sources/${id}/events`, { expand: "event", limit: 100 });
    const rows = data as unknown as { id: string; e: unknown; k: string; ts: number; metadata: object }[];
    expect(page_info).to.include({ total_count: 2, count: 2 });
    expect(rows.map(row => [row.k, row.e])).to.have.deep.members([
      ["emit", { n: "x".repeat(2000) }],
      ["news", "b"],
    ]);
    for (const row of rows) {
      expect(row).to.have.all.keys("id", "e", "k", "ts", "metadata");
      expect(row.ts).to.equal(Number(row.id.split("-")[0]));
    }
    expect(rows.map(row => row.metadata)).to.deep.include({ emit_id: emitId, name: "", emitter_id: id });
  });

  it("are deleted by a range of event ids", async () => {
    const id = await source();
    await emit(id, ["a", "b"]);
    for (const name of ["start_id", "end_id"]) {
      for (const invalid of ["x", "1", "1-", "-1", "1-2-3", ""]) {
        names(
          await api.request("DELETE", `/sources/${id}/events`, { query: { [name]: invalid } }),
          `query ${name}`,
        );
      }
    }
    const reversed = { start_id: "2-0", end_id: "1-0" };
    names(await api.request("DELETE", `/sources/${id}/events`, { query: reversed }), "query end_id");
    const response = await api.request("DELETE", `/sources/${id}/events`);
    expect([response.status, response.text]).to.deep.equal([202, ""]);
    await until(async () => (await read(`/sources/${id}/event_summaries`)).page_info.total_count === 0);
    expect((await api.request("DELETE", `/sources/${id}/events`)).status, "again").to.equal(202);
  });

  it("of a run that throws contain the request, its context and the error", async () => {
    const code = `export default { name: "Bad", version: "1", props: { http: "$.interface.http" }, run() { throw new TypeError("odd"); } };`;
    const made = await api.createSource({ component_code: code });
    await fetch(made.configured_props.http?.endpoint_url ?? "", { method: "POST", body: "x" });
    const [row] = await until(async () => {
      const { data } = await read(`/sources/${made.id}/$errors/event_summaries`);
      return data.length > 0 && data;
    });
    const { original_event, original_context, error } = row?.event ?? {};
    expect(original_event).to.include({ method: "POST", bodyRaw: "x" });
    const context = [
      "id",
      "ts",
      "workflow_id",
      "deployment_id",
      "source_type",
      "verified",
      "owner_id",
      "platform_version",
    ];
    expect(original_context).to.have.all.keys(context);
    expect(original_context).to.include({ owner_id: api.userId, verified: false });
    expect(error).to.include.all.keys("code", "cellId", "ts", "stack").and.include({ code: "TypeError" });
    for (const at of [original_context.ts, error.ts]) expect(new Date(at).toISOString()).to.equal(at);
    expect(row?.metadata).to.include({ name: "$errors", emitter_id: made.id });
  });

  it("of a deploy hook are dropped and counted with emit_on_deploy false", async () => {
    const component_code = `export default { name: "Deploys", version: "1", hooks: { deploy() { this.$emit("deployed"); } } };`;
    const loud = await api.createSource({ component_code });
    await until(
      async () => (await read(`/sources/${loud.id}/event_summaries`)).data[0]?.event.raw_event === "deployed",
    );
    const muted = await api.createSource({ component_code, emit_on_deploy: false });
    const { dropped } = await until(async () => {
      const found = await api.expect(200, "GET", `/sources/${muted.id}`);
      return found.dropped["deploy-muted"] && found;
    });
    expect(dropped).to.include({ "deploy-muted": 1 });
    expect((await read(`/sources/${muted.id}/event_summaries`)).data).to.deep.equal([]);
  });

  it("are streamed live, and from Last-Event-ID on", async () => {
    const id = await source();
    await emit(id, ["before"]);
    const [last] = (await read(`/sources/${id}/event_summaries`)).data;
    const headers = { authorization: `Bearer ${api.apiKey}` };
    const watch = async (more: Record<string, string>, end: RegExp) => {
      const abort = new AbortController();
      const response = await fetch(`${api.baseUrl}/sources/${id}/sse`, {
        headers: { ...headers, ...more },
        signal: abort.signal,
      });
      expect(response.headers.get("content-type")).to.match(/^text\/event-stream/);
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      return {
        async readToEnd(): Promise<string> {
          while (!end.test(text)) text += (await reader?.read())?.value ?? expect.fail(`ended: ${text}`);
          abort.abort();
          return text;
        },
      };
    };
    const live = await watch({}, /event: log\n.*\n\n/);
    await emit(id, ["during"]);
    await emit(id, [{ level: "log", message: "hi", ts: "now" }], { name: "$logs" });
    expect(await live.readToEnd())
      .to.match(/id: [0-9]+-[0-9]+\nevent: emit\ndata: \{.*"during".*\}\n\n/)
      .and.not.include('"before"');
    const resumed = await watch({ "last-event-id": last?.id ?? "" }, /event: log\n.*\n\n/);
    expect(await resumed.readToEnd())
      .to.include('"during"')
      .and.not.include('"before"');
    rejected(await api.request("GET", `/sources/${id}/sse`, { headers: { "last-event-id": "x" } }), 400);
  });

  it("reach the listeners of their emitter, of its glob and of its organization only", async () => {
    const orgId = await world.system.organization(api.userId);
    const emitters = {
      source: await source(),
      workflow: await workflow(),
      orgSource: await thing("source").make(world, { api, orgId }),
      orgWorkflow: await thing("workflow").make(world, { api, orgId }),
    };
    const emitterNames = new Map(Object.entries(emitters).map(([name, id]) => [id, name]));
    const listen = async (owner: Owner, emitterIds: string[]) => {
      const webhook = await thing("webhook").make(world, owner);
      for (const emitter_id of emitterIds) {
        const query = { emitter_id, listener_id: webhook, ...(owner.orgId && { org_id: owner.orgId }) };
        await api.expect(200, "POST", "/subscriptions", { query });
      }
      return async () => {
        const rows = await api.expect(200, "GET", `/webhooks/${webhook}/deliveries`);
        return rows.map((row: { emitter_id: string }) => emitterNames.get(row.emitter_id)).sort();
      };
    };
    const control = await listen({ api }, Object.values(emitters));
    const expected: [() => Promise<string[]>, string[]][] = [
      [await listen({ api }, ["dc_*"]), ["source"]],
      [await listen({ api }, ["p_*"]), ["workflow"]],
      [await listen({ api, orgId }, ["dc_*"]), ["orgSource"]],
      [await listen({ api, orgId }, ["p_*", "dc_*"]), ["orgSource", "orgWorkflow"]],
      [await listen({ api }, [orgId]), ["orgSource", "orgWorkflow"]],
      [await listen({ api, orgId }, [orgId, emitters.orgSource]), ["orgSource", "orgWorkflow"]],
    ];
    for (const id of Object.values(emitters)) await emit(id, ["one"]);
    // One fan-out creates all deliveries of an event at once.
    await until(async () => (await control()).length === 4, {
      what: "all four events are delivered to the control webhook",
    });
    for (const [deliveries, expectedEmitters] of expected) {
      expect(await deliveries()).to.deep.equal(expectedEmitters);
    }
  });
});

/** docs/rest-api.md#current-user */
describe("the current user", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  before(async () => {
    world = await openWorld({
      workers: true,
      env: { FREE_LIMITS: "daily_invocations=3,daily_compute_ms=60000" },
    });
  });
  after(() => world.close());

  const COMMON = [
    ...["id", "username", "email", "orgs", "features", "limits", "usage"],
    ...["invitations", "is_operator"],
  ];
  const FREE = [
    "daily_compute_time_quota",
    "daily_compute_time_used",
    "daily_invocations_quota",
    "daily_invocations_used",
  ];
  const PAID = ["billing_period_start_ts", "billing_period_end_ts", "billing_period_invocations"];
  const me = ({ api }: Owner) => api.expect(200, "GET", "/users/me");

  async function invoke({ api }: Owner, times: number): Promise<string> {
    const { id, configured_props } = await api.createSource({ component_code: newCode("counted") });
    for (let i = 0; i < times; i++)
      await fetch(configured_props.http?.endpoint_url ?? "", { method: "POST", body: `${i}` });
    return id;
  }

  it("of a free account has daily quotas and usage, and no run is executed above the quota", async () => {
    const api = await world.system.user();
    const before = await me({ api });
    expect(before).to.have.all.keys(...COMMON, ...FREE);
    expect(before).to.deep.include({
      ...{ id: api.userId, orgs: [], daily_compute_time_quota: 60_000, daily_invocations_quota: 3 },
      ...{ daily_compute_time_used: 0, daily_invocations_used: 0 },
    });
    isIdOf("u", before.id);
    const id = await invoke({ api }, 5);
    await until(async () => {
      const { dropped } = await api.expect(200, "GET", `/sources/${id}`);
      return dropped["over-quota"] === 2;
    });
    const errors = await until(async () => {
      const found = await api.summaries(id, { stream: "$errors" });
      return found.length > 0 && found;
    });
    expect(errors.map(row => row.event.error.code)).to.deep.equal(["Quota Exceeded"]);
    const after = await me({ api });
    expect(after.daily_invocations_used).to.equal(3);
    expect(Number.isInteger(after.daily_compute_time_used)).to.equal(true);
    expect(after.daily_compute_time_used).to.be.greaterThan(0);
  });

  it("of a paid account has a billing period and its runs, without a quota", async () => {
    const api = await world.system.user({ plan: "paid" });
    const before = await me({ api });
    expect(before).to.have.all.keys(...COMMON, ...PAID);
    expect(before.billing_period_invocations).to.equal(0);
    const now = Date.now() / 1000;
    expect(before.billing_period_start_ts).to.be.at.most(now);
    expect(before.billing_period_end_ts).to.be.at.least(Math.floor(now));
    const id = await invoke({ api }, 5);
    await until(async () => (await api.summaries(id)).length === 5);
    expect((await me({ api })).billing_period_invocations).to.equal(5);
  });

  it("has a list of organizations", async () => {
    const api = await world.system.user();
    const id = await world.system.organization(api.userId);
    const { orgs, email } = await me({ api });
    expect(orgs).to.have.length(1);
    expect(orgs[0])
      .to.have.all.keys("name", "id", "orgname", "email", "role")
      .and.include({ id, name: "Org", email, role: "owner" });
    isIdOf("o", id);
  });
});
