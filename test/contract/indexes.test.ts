// runs-long: npm test has test/contract/rest-api-lists.test.ts

import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { createApiKey, listApiKeys, revokeApiKey } from "../../src/accounts/api-keys.ts";
import { findUser } from "../../src/accounts/openid-connect/find-user.ts";
import { addMember } from "../../src/accounts/organizations.ts";
import { endAllSessions } from "../../src/accounts/sessions/sessions.ts";
import { planOf } from "../../src/accounts/users.ts";
import { raiseAlert } from "../../src/alerts/raise.ts";
import { routes } from "../../src/app.ts";
import { trimEntries } from "../../src/audit/record.ts";
import { storedBundle } from "../../src/components/stored-bundle.ts";
import { rowIdCursor } from "../../src/http/common-parameters.ts";
import { newId } from "../../src/lib/ids.ts";
import { Mailboxes } from "../../src/models/alert.ts";
import { BundleChunks, BundleParts, Bundles, chunkId } from "../../src/models/component.ts";
import { BrowserApi, signInWith } from "../accounts/sessions/browser.ts";
import { sweepAll } from "../support/sweep.ts";
import { until } from "../support/until.ts";
import { openWorld } from "./open-world.ts";
import {
  addForeignRows,
  faultsOfPlan,
  type QueryShape,
  recordedShapes,
  recordQueries,
} from "./query-plans.ts";
import { exampleRequest, send, thingOf } from "./requests.ts";
import { type Owner, thing } from "./things.ts";

/** A source with hooks, a timer, a db and dedupe, which fails for the path `/bad`. */
const BUSY = `export default { name: "Busy", version: "0.0.1", key: "busy", dedupe: "unique",
  props: { http: "$.interface.http", timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } }, db: "$.service.db" },
  hooks: { deploy() { this.$emit("deployed"); }, activate() {}, deactivate() {} },
  run(event) {
    if (event.path === "/bad") throw new Error("on purpose");
    this.db.set("n", (this.db.get("n") ?? 0) + 1);
    console.log("seen");
    this.$emit({ text: "x".repeat(3000) }, { id: this.db.get("n") });
  } };`;

const BOTH = { state: "disabled", q: "a" };

/** Every query has an index, so that none scans a collection (docs/design.md#stores). */
describe("queries of the whole system", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let shapes: QueryShape[];

  before(async () => {
    // Nothing listens there: what is to be mailed waits.
    const env = { DURABLE_INGRESS: "mongodb", SMTP_URL: "smtp://127.0.0.1:1?from=a@example.com" };
    world = await openWorld({ workers: true, env });
    const { mongo } = world.system.worker;
    await useEverything();
    await addForeignRows(mongo, 500);
    await recordQueries(mongo);
    await useEverything();
    shapes = await recordedShapes(mongo);
  });
  after(() => world.close());

  async function useEverything(): Promise<void> {
    const api = await world.system.user();
    const orgId = await world.system.organization(api.userId);
    await requestEverything({ api, orgId });
    await runEverything({ api, orgId });
    await operate({ api, orgId });
  }

  /** Requests every route once, and pages in both directions. */
  async function requestEverything({ api, orgId }: Required<Owner>): Promise<void> {
    for (const route of routes) {
      const owner = route.access.kind === "member" ? { api, orgId } : { api };
      const example = await exampleRequest(world, route, owner);
      const response = await send(api, route, example);
      expect(response.status, `${route.id}: ${response.text}`).to.equal(route.response.status);
      // Otherwise it would be among the rows that the account's queries read.
      if (thingOf(route) === "listener") {
        await api.expect(204, "DELETE", `/destinations/${example.path.split("/")[2]}`);
      }
      const isList = route.response.kind === "page" && response.body.page_info.start_cursor !== null;
      if (!isList) continue;
      for (const name of ["after", "before"]) {
        const request = await exampleRequest(world, route, owner);
        const query = { ...request.query, [name]: response.body.page_info.start_cursor };
        await send(api, route, { ...request, query });
      }
    }
    const webhook = await thing("webhook").make(world, { api });
    const filters: Record<string, string | number>[] = [
      { state: "failed", since: 1 },
      { since: 1, until: 2_000_000_000 },
    ];
    for (const query of filters) {
      await api.expect(200, "GET", `/webhooks/${webhook}/deliveries`, { query });
    }
    await filterLists(api, webhook);
    const ids = ["dc", "wh", "ds", "p", "sc", "apn", "sub", "asub", "rpl", "key", "dlv", "run"];
    const texts = ["thing", "1700000000000-0", `${newId("run")}-0`, "x".repeat(32)];
    for (const q of [...texts, ...ids.flatMap(id => [`${id}_0000`, newId(id as "dc")])]) {
      await api.expect(200, "GET", "/search", { query: { q } });
    }
    await api.expect(202, "POST", `/webhooks/${webhook}/recover`, { body: { since: 0 } });
    await new BrowserApi(api.baseUrl, await signInWith(api)).expect(200, "GET", "/users/me");
    const { url } = await api.expect(201, "POST", "/sign_in_links");
    await api.expect(201, "POST", "/sessions", { body: { link: url.split("#link=")[1] } });
    await api.request("GET", "/components/thing-1");
    for (const type of ["source", "action"]) {
      await api.expect(200, "GET", "/components", { query: { type } });
    }
    await api.request("GET", "/sources/thing");
  }

  /** Lists with each of their filters, and with several, from the first page and from a cursor. */
  async function filterLists(api: Owner["api"], listener_id: string): Promise<void> {
    const after = rowIdCursor.encode("zzz");
    const lists: Record<string, Record<string, string | boolean>[]> = {
      "/users/me/webhooks": [
        { q: "a" },
        ...["active", "failing", "disabled"].map(state => ({ state })),
        BOTH,
      ],
      "/users/me/destinations": [{ q: "a" }, { state: "failing" }, BOTH],
      "/users/me/sources": [{ q: "a" }, { active: true }, { active: false, q: "a" }],
      "/users/me/workflows": [{ q: "a" }],
      "/users/me/connections": [{ q: "a" }],
      "/users/me/subscriptions": [
        ...[{ q: "thing" }, { emitter_id: "p_*" }, { listener_id }],
        ...[
          { emitter_id: "p_*", q: "a" },
          { emitter_id: "p_*", listener_id },
        ],
      ],
      "/users/me/auto_subscriptions": [{ q: "a" }],
      "/components": [{ q: "a" }, { q: "a", type: "source" }],
      "/deliveries": [
        ...[{ event_id: "1700000000000-0" }, { subscription_id: "sub_x" }, { expand: "preview" }],
        { event_id: "1700000000000-0", state: "failed" },
      ],
    };
    await sortLists(api);
    for (const [path, filters] of Object.entries(lists)) {
      for (const filter of filters) {
        const query = filter as Record<string, string>;
        await api.expect(200, "GET", path, { query });
        await api.expect(200, "GET", path, { query: { ...query, after } });
        await api.expect(200, "GET", path, { query: { ...query, before: after } });
      }
    }
  }

  /** Lists in each of their orders, beside filters, from the first page, and from a row with a moment and one without. */
  async function sortLists(api: Owner["api"]): Promise<void> {
    const cursors = ["1700000000000 zzz", " zzz"].flatMap(cursor =>
      ["after", "before"].map(name => ({ [name]: rowIdCursor.encode(cursor) })),
    );
    const lists: Record<string, Record<string, string>[]> = {
      "/users/me/webhooks": [{}, { state: "failing" }, { q: "a" }],
      "/users/me/destinations": [{}, { state: "active" }],
      "/users/me/sources": [{}, { active: "true" }, { q: "a" }],
    };
    const connected = ["dc_zzz zzz", "p_* zzz"].flatMap(cursor =>
      ["after", "before"].map(name => ({ [name]: rowIdCursor.encode(cursor) })),
    );
    for (const [sort, places] of Object.entries({
      emitter: connected,
      listener: connected,
      last_error: cursors,
    })) {
      const filters: Record<string, string>[] = [{}, { emitter_id: "p_*" }, { q: "a" }];
      for (const filter of filters) {
        for (const cursor of [{}, ...places]) {
          await api.expect(200, "GET", "/users/me/subscriptions", { query: { sort, ...filter, ...cursor } });
        }
      }
    }
    for (const [path, filters] of Object.entries(lists)) {
      for (const sort of ["last_event", "last_success", "last_error"]) {
        for (const filter of filters) {
          for (const cursor of [{}, ...cursors]) {
            await api.expect(200, "GET", path, { query: { sort, ...filter, ...cursor } });
          }
        }
      }
    }
  }

  /** Causes runs, emissions to each kind of listener, deliveries that fail and succeed, and deletions. */
  /** As an account of its own: a further listener would be among the rows that the others' queries read. */
  async function pullEvents(): Promise<void> {
    const api = await world.system.user();
    const flow = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
    const pulled = await thing("listener").make(world, { api });
    await api.subscribe(flow.id, pulled);
    await api.expect(202, "POST", `/workflows/${flow.id}/events`, { body: { event: 1 } });
    const pull = (query: Record<string, string>) =>
      api.expect(200, "GET", `/listeners/${pulled}/events`, { query });
    const { cursor } = await until(async () => {
      const found = await pull({});
      return found.events.length > 0 && found;
    });
    await pull({ after: cursor, wait: "1" });
    await api.expect(204, "DELETE", `/destinations/${pulled}`);
  }

  async function runEverything({ api, orgId }: Required<Owner>): Promise<void> {
    const [webhook, listener] = [
      await api.createWebhook(world.receiver.url),
      await thing("source").make(world, { api }),
    ];
    const workflow = await thing("workflow").make(world, { api });
    await api.expect(200, "POST", "/auto_subscriptions", {
      query: { event_name: "$errors", listener_id: webhook.id },
    });
    const source = await api.createSource({ component_code: BUSY });
    for (const id of [webhook.id, listener, workflow]) await api.subscribe(source.id, id);
    await api.subscribe("dc_*", webhook.id, "$logs");
    const changed = await api.createWebhook(world.receiver.url);
    await api.expect(200, "POST", "/subscriptions", {
      query: { emitter_id: source.id, listener_id: changed.id },
      body: { function: "export default event => ({ changed: event });" },
    });
    await api.expect(200, "POST", "/subscriptions", {
      query: { emitter_id: orgId, listener_id: webhook.id },
      body: { filter: { a: 1 } },
    });
    // Also through the waitlist of an ordered webhook, and back.
    const inOrder = await api.createWebhook(world.receiver.url);
    await api.expect(200, "PUT", `/webhooks/${inOrder.id}`, { body: { ordered: true } });
    await api.subscribe(source.id, inOrder.id);
    world.receiver.script(500, 200);
    const endpoint = source.configured_props.http?.endpoint_url ?? "";
    await fetch(endpoint, { method: "POST", body: "{}" });
    await fetch(`${endpoint}/bad`);
    await until(async () => (await api.summaries(source.id, { stream: "$errors" })).length > 0, {
      what: "an error",
    });
    await until(async () => (await api.summaries(source.id)).length > 2, { what: "events" });
    await until(() => world.receiver.requests.length > 4, { what: "deliveries" });
    await until(
      async () =>
        (await api.expect(200, "GET", `/webhooks/${inOrder.id}/deliveries`))[0]?.state === "delivered",
      {
        what: "a delivery in order",
      },
    );
    await api.expect(200, "PUT", `/webhooks/${inOrder.id}`, { body: { ordered: false } });
    await pullEvents();
    const runs = (query: Record<string, string>) =>
      api.expect(200, "GET", `/sources/${source.id}/runs`, { query });
    const [failed] = await runs({ outcome: "error" });
    await api.expect(200, "GET", `/runs/${failed.id}`);
    for (const name of ["after", "before"]) {
      const cursor = { [name]: rowIdCursor.encode(failed.id) };
      await runs(cursor);
      await runs({ outcome: "error", ...cursor });
    }
    expect((await api.summaries(source.id, { query: { expand: "event" } }))[0]?.event).to.have.property(
      "raw_event",
    );
    await api.expect(200, "PUT", `/sources/${source.id}`, { body: { active: false } });
    await api.expect(202, "DELETE", `/sources/${source.id}/events`);
    await until(async () => (await api.summaries(source.id)).length === 0, { what: "no events" });
    await useIssues(api);
    await api.expect(202, "POST", `/webhooks/${webhook.id}/recover`, { body: { since: 0 } });
    const recovery = () => api.expect(200, "GET", `/webhooks/${webhook.id}/recover`);
    await until(async () => (await recovery()).state === "done", { what: "the recovery is done" });
    await api.expect(204, "DELETE", `/webhooks/${webhook.id}`);
    await api.expect(204, "DELETE", `/sources/${source.id}`);
    const { runQueue } = world.system.worker;
    await until(async () => (await runQueue.length(source.id)) === 0, { what: "the source is cleaned up" });
  }

  /** Lists the issue of the delivery that failed once, whichever webhook it was of, and what it concerns. */
  async function useIssues(api: Owner["api"]): Promise<void> {
    const issues = (query: Record<string, string>) => api.expect(200, "GET", "/users/me/issues", { query });
    const [{ id: issue_id, listener_id }] = await until(
      async () => {
        const found = await issues({});
        return found.length > 0 && found;
      },
      { what: "an issue" },
    );
    await issues({ listener_id });
    await issues({ listener_id, state: "open" });
    const filters: Record<string, string>[] = [{}, { state: "delivered" }, { since: "1" }, { status: "5xx" }];
    for (const query of filters) {
      await api.expect(200, "GET", "/deliveries", { query: { issue_id, ...query } });
    }
  }

  /** Reads the audit log of an organization by each of its filters, and deletes what is too much. */
  async function useAuditLog({ api, orgId }: Required<Owner>): Promise<void> {
    const entries = (query: Record<string, string | number>) =>
      api.expect(200, "GET", `/orgs/${orgId}/audit_log`, { query: { limit: 2, ...query } });
    const [{ id, action, actor, thing }] = await entries({});
    const after = rowIdCursor.encode(id);
    const filters: Record<string, string>[] = [
      ...[{}, { action }, { actor_id: actor.user_id }, { thing_id: thing.id }, { since: "1" }],
    ];
    for (const query of filters) {
      await entries(query);
      await entries({ ...query, after });
    }
    await trimEntries(world.system.worker, orgId, 1);
  }

  /** Does what the command line and the reconciler do. */
  async function operate({ api, orgId }: Required<Owner>): Promise<void> {
    const { worker } = world.system;
    await useAuditLog({ api, orgId });
    const other = await world.system.user({ plan: "paid" });
    await addMember(worker, orgId, other.userId);
    const key = await createApiKey(worker, other.userId);
    await listApiKeys(worker, other.userId);
    await revokeApiKey(worker, key.id);
    await planOf(worker, orgId);
    await endAllSessions(worker, other.userId);
    await signInByRule(orgId);
    await api.request("GET", `/orgs/${orgId}/sources`);
    await raiseAlert(worker, {
      ...{ ownerId: orgId, type: "quota.100", subject: null, sinceMs: worker.clock(), message: "used up" },
    });
    await sweepAll(worker);
    await readLargeBundle();
    await readBundleInParts();
    const mailbox = { _id: api.userId };
    await until(
      async () => {
        await Mailboxes(worker.mongo).updateMany(
          { ...mailbox, failures: 0 },
          { $set: { due_at: new Date(0) } },
        );
        return (await Mailboxes(worker.mongo).findOne(mailbox).lean())?.failures;
      },
      { what: "a mail that can't be sent" },
    );
  }

  /** Reads the chunks of a bundle that does not fit into one document. */
  async function readLargeBundle(): Promise<void> {
    const { worker } = world.system;
    const code = `export default "${newId("run")}";`;
    const hash = createHash("sha256").update(code).digest("hex");
    const packed = gzipSync(code);
    await Bundles(worker.mongo).insertOne({ _id: hash, packed: packed.subarray(0, 8), chunks: 1 });
    await BundleChunks(worker.mongo).insertOne({ _id: chunkId(hash, 0), data: packed.subarray(8) });
    const path = join(tmpdir(), newId("run"));
    await storedBundle(worker, hash).writeTo(path);
    expect(readFileSync(path, "utf8")).to.equal(code);
    rmSync(path);
  }

  /** Reads the parts of a bundle that others may have, too. */
  async function readBundleInParts(): Promise<void> {
    const { worker } = world.system;
    const [id, code] = [newId("run"), `export default "${newId("run")}";`];
    const hash = createHash("sha256").update(code).digest("hex");
    await BundleParts(worker.mongo).insertOne({ _id: id, data: gzipSync(code), bundles: 1 });
    await Bundles(worker.mongo).insertOne({ _id: hash, parts: [id] });
    const path = join(tmpdir(), newId("run"));
    await storedBundle(worker, hash).writeTo(path);
    expect(readFileSync(path, "utf8")).to.equal(code);
    rmSync(path);
  }

  /** Somebody joins by a rule, comes again, and is no longer let in. */
  async function signInByRule(orgId: string): Promise<void> {
    const subject = newId("u");
    const claims = { issuer: "https://login.example.com", subject, email_verified: true };
    const organizations = [{ claim: null, value: "example.com", orgId }];
    const admission = {
      rules: { domains: [], emails: [], organizations },
      createsAccounts: true,
      linksAccounts: true,
    };
    const { worker } = world.system;
    for (let i = 0; i < 2; i++) {
      await findUser(worker, { ...claims, email: `${subject}@example.com` }, admission);
    }
    const left = findUser(worker, { ...claims, email: `${subject}@example.org` }, admission);
    expect(await left.catch((error: Error) => error.message)).to.equal("not-allowed");
  }

  it("cover every collection", () => {
    const covered = new Set(shapes.map(shape => shape.collection));
    const all = Object.keys(world.system.worker.mongo.models);
    expect(
      all.filter(name => !covered.has(name)),
      "add to the scenario of this test",
    ).to.deep.equal([]);
  });

  it("use an index, and never sort in memory", async () => {
    const faults: string[] = [];
    for (const shape of shapes) faults.push(...(await faultsOfPlan(world.system.worker.mongo, shape)));
    expect(faults, `${shapes.length} kinds of queries`).to.deep.equal([]);
  });
});
