import { createHash } from "node:crypto";
import { setOperator } from "../../src/accounts/operators.ts";
import { INSTALLATION, recordOfOperator, recordOwnAction } from "../../src/audit/record.ts";
import type { AnyRoute } from "../../src/http/route.ts";
import { newId } from "../../src/lib/ids.ts";
import { AuditEntries } from "../../src/models/audit-entry.ts";
import { CodeHistories } from "../../src/models/code-history.ts";
import { Bundles, Components } from "../../src/models/component.ts";
import { Deliveries } from "../../src/models/delivery.ts";
import { Issues } from "../../src/models/issue.ts";
import { Invitations } from "../../src/models/organization.ts";
import { Replays } from "../../src/models/replay.ts";
import { RunRecords } from "../../src/models/run.ts";
import { Sessions } from "../../src/models/session.ts";
import { ApiKeys } from "../../src/models/user.ts";
import type { EventStream } from "../../src/store/keys.ts";
import { BrowserApi, signInWith } from "../accounts/sessions/browser.ts";
import { append } from "../support/event-log.ts";
import { newInvitation, type Owner, orgQuery, THINGS, type World } from "./things.ts";

/** A list that a test adds rows to and removes rows from. */
export interface List {
  /** The route's path with its parameters filled in. */
  path: string;
  /** The id of the row that a new list has, if it has one. */
  first?: string;
  add(): Promise<string>;
  remove(rowId: string): Promise<unknown>;
}

type Open = (world: World, owner: Owner) => Promise<List>;

const ownerIdOf = ({ orgId, api }: Owner) => orgId ?? api.userId;

/** A list of resources that are created and deleted through the API. */
const made =
  (what: string, folder: string, path: (owner: Owner) => string): Open =>
  async (world, owner) => ({
    path: path(owner),
    add: async () => (await THINGS[what]?.make(world, owner)) ?? "",
    remove: id => owner.api.expect(204, "DELETE", `/${folder}/${id}`),
  });

/** Components are stored directly, because the sandbox would take most of the time of the test. */
const components: Open = async ({ system }, owner) => ({
  path: "/components",
  async add() {
    const id = newId("sc");
    const hash = createHash("sha256").update(id).digest("hex");
    await Bundles(system.worker.mongo).insertOne({ _id: hash, code: "export {}" });
    await Components(system.worker.mongo).insertOne({
      _id: id,
      owner_id: ownerIdOf(owner),
      user_id: owner.api.userId,
      code: id,
      component_url: null,
      code_hash: hash,
      bundle_hash: hash,
      key: null,
      name: "Row",
      version: "0.0.1",
      description: { name: "Row", version: "0.0.1", props: [], hooks: [], hasRun: true },
      packages: {},
      uses_respond: false,
      published: false,
      created_at: 0,
      updated_at: 0,
    });
    return id;
  },
  remove: id => owner.api.expect(204, "DELETE", `/components/${id}`, { query: orgQuery(owner) }),
});

/** Deliveries to one webhook, which is the account's only one, or as if to another destination. */
const deliveries =
  (pathOf: (webhookId: string, owner: Owner) => string, to?: string): Open =>
  async (world, owner) => {
    const first = (await THINGS.delivery?.make(world, owner)) ?? "";
    const model = Deliveries(world.system.worker.mongo);
    const row = await model.findById(first).lean();
    await model.deleteOne({ _id: first });
    if (!row) throw new Error("no delivery");
    if (to !== undefined) row.webhook_id = (await THINGS[to]?.make(world, owner)) ?? "";
    return {
      path: pathOf(row.webhook_id, owner),
      async add() {
        const id = newId("dlv");
        await model.insertOne({ ...row, _id: id });
        return id;
      },
      remove: id => model.deleteOne({ _id: id }),
    };
  };

const replays: Open = async (world, owner) => ({
  path: "/replays",
  add: async () => (await THINGS.replay?.make(world, owner)) ?? "",
  remove: id => Replays(world.system.worker.mongo).deleteOne({ _id: id }),
});

const issues =
  (pathOf: (owner: Owner) => string): Open =>
  async (world, owner) => ({
    path: pathOf(owner),
    add: async () => (await THINGS.issue?.make(world, owner)) ?? "",
    remove: id => Issues(world.system.worker.mongo).deleteOne({ _id: id }),
  });

const auditLog =
  (pathOf: (owner: Owner) => string): Open =>
  async ({ system: { worker } }, owner) => ({
    path: pathOf(owner),
    async add() {
      await recordOwnAction(worker, { ownerId: ownerIdOf(owner), action: "session.ended", thing: null });
      const newest = await AuditEntries(worker.mongo)
        .findOne({ owner_id: ownerIdOf(owner) })
        .sort({ _id: -1 });
      return newest?._id ?? "";
    },
    remove: id => AuditEntries(worker.mongo).deleteOne({ _id: id }),
  });

/** What operators did, which one of them reads. */
const installationLog: Open = async ({ system: { worker } }, { api }) => {
  await setOperator(worker, api.userId, true);
  const entries = AuditEntries(worker.mongo);
  await entries.deleteMany({ owner_id: INSTALLATION });
  return {
    path: "/audit_log",
    async add() {
      await recordOfOperator(worker, { action: "secrets.resealed", thing: null });
      return (await entries.findOne({ owner_id: INSTALLATION }).sort({ _id: -1 }))?._id ?? "";
    },
    remove: id => entries.deleteOne({ _id: id }),
  };
};

/** Invitations to the organization, or to the user from new ones. */
const invitations =
  (pathOf: (owner: Owner) => string): Open =>
  async (world, owner) => ({
    path: pathOf(owner),
    add: async () => {
      const { email } = await owner.api.expect(200, "GET", "/users/me");
      const to = owner.orgId ? `${newId("u")}@example.test`.toLowerCase() : email;
      return await newInvitation(world, owner, to);
    },
    remove: id => Invitations(world.system.worker.mongo).deleteOne({ _id: id }),
  });

/** API keys of a user who has none, and is signed in with a session. */
const keys: Open = async ({ system }, { api }) => {
  const { mongo } = system.worker;
  const browser = new BrowserApi(api.baseUrl, await signInWith(api));
  await Sessions(mongo).updateMany({ user_id: api.userId }, { $set: { key_id: null } });
  await ApiKeys(mongo).deleteMany({ user_id: api.userId });
  Object.assign(api, { request: browser.request.bind(browser) });
  return {
    path: "/api_keys",
    add: async () => (await api.expect(201, "POST", "/api_keys", { body: {} })).id,
    remove: id => ApiKeys(mongo).deleteOne({ _id: id }),
  };
};

/** Runs of one source, as the runs worker records them, each with a further part of its outbox, which is not listed. */
const runs: Open = async (world, owner) => {
  const sourceId = (await THINGS.source?.make(world, owner)) ?? "";
  const model = RunRecords(world.system.worker.mongo);
  const row = {
    source_id: sourceId,
    owner_id: ownerIdOf(owner),
    outcome: "ok",
    duration_ms: 1,
    emitted: 0,
    dropped: {},
    finished_at: new Date(),
    expires_at: new Date(Date.now() + 86_400_000),
  };
  return {
    path: `/sources/${sourceId}/runs`,
    async add() {
      const id = newId("run");
      await model.insertMany([
        { ...row, _id: id, kind: "http" },
        { ...row, _id: `${id}~0001`, kind: "part" },
      ]);
      return id;
    },
    remove: id => model.deleteOne({ _id: id }),
  };
};

/** Versions of the code of one source, each with the same code. */
const versions: Open = async (world, owner) => {
  const _id = (await THINGS.source?.make(world, owner)) ?? "";
  const model = CodeHistories(world.system.worker.mongo);
  const [row] = (await model.findById(_id).lean())?.versions ?? [];
  if (!row) throw new Error("no version");
  return {
    path: `/sources/${_id}/versions`,
    first: row.id,
    async add() {
      const id = newId("cv");
      await model.updateOne({ _id }, { $push: { versions: { $each: [{ ...row, id }], $sort: { id: 1 } } } });
      return id;
    },
    remove: id => model.updateOne({ _id }, { $pull: { versions: { id } } }),
  };
};

/** Events of one emitter and stream, as the emissions worker stores them. */
const events =
  (what: "source" | "workflow", stream: EventStream, tail: string): Open =>
  async (world, owner) => {
    const emitterId = (await THINGS[what]?.make(world, owner)) ?? "";
    return eventsOf(world, emitterId, stream, `/${what}s/${emitterId}/${tail}`);
  };

function eventsOf({ system }: World, emitterId: string, stream: EventStream, path: string): List {
  const { eventLog } = system.worker;
  const name = stream === "emits" ? "" : `$${stream}`;
  return {
    path,
    async add() {
      const metadata = { emit_id: newId("emit"), name, emitter_id: emitterId };
      const event = stream === "emits" ? { raw_event: { n: 1 } } : { message: "odd" };
      return (await append(eventLog, emitterId, stream, { event, metadata })).eventId;
    },
    remove: id => eventLog.deleteRange(emitterId, stream, { startId: id, endId: id }),
  };
}

/** Alerts are the events of their account. */
const alerts: Open = async (world, owner) => {
  const path = owner.orgId ? `/orgs/${owner.orgId}` : "/users/me";
  return eventsOf(world, ownerIdOf(owner), "emits", `${path}/$alerts/event_summaries`);
};

/** How to fill the list of each paginated route, by route id. A new route is added here. */
const LISTS: Record<string, Open> = {
  listComponents: components,
  listMySources: made("source", "sources", () => "/users/me/sources"),
  listOrganizationSources: made("source", "sources", ({ orgId }) => `/orgs/${orgId}/sources`),
  listMyWebhooks: made("webhook", "webhooks", () => "/users/me/webhooks"),
  listOrganizationWebhooks: made("webhook", "webhooks", ({ orgId }) => `/orgs/${orgId}/webhooks`),
  listMyDestinations: made("destination", "destinations", () => "/users/me/destinations"),
  listOrganizationDestinations: made(
    "destination",
    "destinations",
    ({ orgId }) => `/orgs/${orgId}/destinations`,
  ),
  listMyMcpSubscriptions: made("mcp subscription", "mcp_subscriptions", () => "/users/me/mcp_subscriptions"),
  listOrganizationMcpSubscriptions: made(
    "mcp subscription",
    "mcp_subscriptions",
    ({ orgId }) => `/orgs/${orgId}/mcp_subscriptions`,
  ),
  listMyConnections: made("connection", "connections", () => "/users/me/connections"),
  listOrganizationConnections: made("connection", "connections", ({ orgId }) => `/orgs/${orgId}/connections`),
  listMySubscriptions: made("subscription", "subscriptions", () => "/users/me/subscriptions"),
  listOrganizationSubscriptions: made(
    "subscription",
    "subscriptions",
    ({ orgId }) => `/orgs/${orgId}/subscriptions`,
  ),
  listMyAutoSubscriptions: made(
    "auto subscription",
    "auto_subscriptions",
    () => "/users/me/auto_subscriptions",
  ),
  listOrganizationAutoSubscriptions: made(
    "auto subscription",
    "auto_subscriptions",
    ({ orgId }) => `/orgs/${orgId}/auto_subscriptions`,
  ),
  listMyWorkflows: made("workflow", "workflows", () => "/users/me/workflows"),
  listOrganizationWorkflows: made("workflow", "workflows", ({ orgId }) => `/orgs/${orgId}/workflows`),
  listDeliveries: deliveries(webhookId => `/webhooks/${webhookId}/deliveries`),
  listDestinationDeliveries: deliveries(id => `/destinations/${id}/deliveries`, "destination"),
  searchDeliveries: deliveries(() => "/deliveries"),
  listApiKeys: keys,
  listReplays: replays,
  listMyIssues: issues(() => "/users/me/issues"),
  listOrganizationIssues: issues(({ orgId }) => `/orgs/${orgId}/issues`),
  listMyAuditLog: auditLog(() => "/users/me/audit_log"),
  listOrganizationAuditLog: auditLog(({ orgId }) => `/orgs/${orgId}/audit_log`),
  listInstallationAuditLog: installationLog,
  listMyInvitations: invitations(() => "/users/me/invitations"),
  listInvitations: invitations(({ orgId }) => `/orgs/${orgId}/invitations`),
  listSessions: made("session", "sessions", () => "/sessions"),
  listRuns: runs,
  listSourceVersions: versions,
  listSourceEvents: events("source", "emits", "event_summaries"),
  listSourceErrors: events("source", "errors", "$errors/event_summaries"),
  listSourceLogs: events("source", "logs", "$logs/event_summaries"),
  listSourceEventRows: events("source", "emits", "events"),
  listMyAlerts: alerts,
  listOrganizationAlerts: alerts,
  listWorkflowEvents: events("workflow", "emits", "event_summaries"),
  listWorkflowErrors: events("workflow", "errors", "$errors/event_summaries"),
};

/** Returns a new list of a paginated route, empty but for its `first` row; throws for one that is not in LISTS. */
export function openList(route: AnyRoute, world: World, owner: Owner): Promise<List> {
  const open = LISTS[route.id];
  if (!open) {
    throw new Error(`${route.id} is paginated: add how to fill it to LISTS in test/contract/lists.ts`);
  }
  return open(world, owner);
}
