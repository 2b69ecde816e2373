import { createHash } from "node:crypto";
import { publishComponent } from "../../src/components/components.ts";
import { createDeliveries } from "../../src/deliveries/dispatch/create.ts";
import { issueIdOf } from "../../src/issues/cause.ts";
import { issueCountsOf } from "../../src/issues/issue-counts.ts";
import { eventScore, newId, newToken } from "../../src/lib/ids.ts";
import { type Component, Components } from "../../src/models/component.ts";
import { Connections } from "../../src/models/connection.ts";
import { type StoredEvent, StoredEvents, storedEventId } from "../../src/models/event.ts";
import { Invitations, Memberships } from "../../src/models/organization.ts";
import { RunRecords } from "../../src/models/run.ts";
import { Webhooks } from "../../src/models/webhook.ts";
import { newFields } from "../../src/webhooks/delivery-settings.ts";
import { createWorkflow } from "../../src/workflows/workflows.ts";
import { signInWith } from "../accounts/sessions/browser.ts";
import type { Api } from "../support/api.ts";
import type { Receiver } from "../support/receiver.ts";
import type { System } from "../support/system.ts";

/** The account that a resource is created for: a user, or an organization with one of its members. */
export interface Owner {
  api: Api & { userId: string };
  orgId?: string;
}

export interface World {
  system: System;
  /** Receives the deliveries to the webhooks of the tests. */
  receiver: Receiver;
}

/** Creates a resource and returns the id or key that a path names it by. */
type Make = (world: World, owner: Owner) => Promise<string>;

let made = 0;

/** Returns unique code of an HTTP source, so that it becomes a new component. */
export function newCode(key = `thing-${++made}`): string {
  return `export default { name: "Thing", version: "0.0.1", key: ${JSON.stringify(key)},
  props: { http: "$.interface.http", city: { type: "string", optional: true, options: ["Bern", "Zug"] } },
  sampleEmit: { hello: "world" }, run(event) { this.$emit(event.body); } };`;
}

/** All sources share this code, so that it is bundled and described only once. */
const SOURCE_CODE = newCode("thing");

export const orgQuery = ({ orgId }: Owner): Record<string, string> => (orgId ? { org_id: orgId } : {});

/** The components of a world are copies of one, because the sandbox would take most of the time of the tests. */
const models = new WeakMap<World, Promise<Component>>();

async function describedComponent({ system }: World): Promise<Component> {
  const body = { component_code: newCode().replace("run(", "additionalProps() { return {}; }, run(") };
  const { id } = await (await system.user()).expect(201, "POST", "/components", { body });
  const found = await Components(system.worker.mongo).findById(id).lean();
  if (!found) throw new Error("no component");
  return found;
}

const component: Make = async (world, owner) => {
  const model = models.get(world) ?? describedComponent(world);
  models.set(world, model);
  const _id = newId("sc");
  const row = {
    ...(await model),
    ...{ _id, owner_id: owner.orgId ?? owner.api.userId, user_id: owner.api.userId },
    // An owner has the same code once.
    code_hash: createHash("sha256").update(_id).digest("hex"),
  };
  await Components(world.system.worker.mongo).insertOne(row);
  return _id;
};

const source: Make = async (_, owner) =>
  (await owner.api.createSource({ component_code: SOURCE_CODE }, orgQuery(owner))).id;

const webhook: Make = async ({ receiver }, owner) =>
  (await owner.api.createWebhook(receiver.url, orgQuery(owner))).id;

const destination: Make = async (_, owner) => {
  const body = { redis_stream: { url: "redis://127.0.0.1:1", stream: "events" } };
  const options = { query: orgQuery(owner), body };
  return (await owner.api.expect(201, "POST", "/destinations", options)).id;
};

/** A destination that a program pulls from. */
const listener: Make = async (_, owner) => {
  const options = { query: orgQuery(owner), body: { pull: {} } };
  return (await owner.api.expect(201, "POST", "/destinations", options)).id;
};

/** As `events/subscribe` stores it, without the challenge. Its id has a time, so that the newest comes first. */
const mcpSubscription: Make = async ({ system, receiver }, { api, orgId }) => {
  const _id = newId("ms");
  const [key] = await api.expect(200, "GET", "/api_keys");
  await Webhooks(system.worker.mongo).insertOne({
    ...{ _id, kind: "mcp", url: receiver.url, signing_keys: [], headers: null, header_names: [] },
    ...newFields({ ownerId: orgId ?? api.userId, userId: api.userId }, Date.now()),
    mcp: {
      ...{ key_id: key.id, event_type: "alert.raised", arguments: "{}" },
      ...{ expires_at_ms: Date.now() + 3_600_000, verified_at_ms: Date.now() },
    },
  });
  return _id;
};

const action: Make = async (_, owner) => {
  const component_code = `export default { name: "Act", version: "0.0.1", type: "action",
    props: { city: { type: "string", optional: true, options: ["Bern", "Zug"] } }, run() {} };`;
  const options = { query: orgQuery(owner), body: { action: { component_code } } };
  return (await owner.api.expect(201, "POST", "/destinations", options)).id;
};

const workflow: Make = async ({ system }, owner) => {
  const ownerId = owner.orgId ?? owner.api.userId;
  return (await createWorkflow(system.worker, { ownerId, name: "Flow" })).id;
};

/** Stores an event of an emitter, unless it is stored already. */
export async function storeEvent(
  { system }: World,
  owner: Owner,
  { emitterId, eventId }: { emitterId: string; eventId: string },
): Promise<StoredEvent> {
  const event: StoredEvent = {
    _id: storedEventId(emitterId, newId("emit")),
    emitter_id: emitterId,
    owner_id: owner.orgId ?? owner.api.userId,
    event_id: eventId,
    score: eventScore(eventId) ?? 0,
    name: "",
    event: '{"hello":"world"}',
    has_webhook_listeners: true,
    created_at: new Date(),
  };
  await StoredEvents(system.worker.mongo).insertOne(event);
  return event;
}

/** A pending delivery, with everything that a retry needs. */
const delivery: Make = async (world, owner) => {
  const [emitterId, webhookId] = [await source(world, owner), await webhook(world, owner)];
  const query = { emitter_id: emitterId, listener_id: webhookId, ...orgQuery(owner) };
  const subscription = await owner.api.expect(200, "POST", "/subscriptions", { query });
  const event = await storeEvent(world, owner, { emitterId, eventId: `${Date.now()}-0` });
  const ownerId = owner.orgId ?? owner.api.userId;
  const listener = { subscriptionId: subscription.id, webhookId, ownerId };
  await createDeliveries(world.system.worker, { event, listeners: [listener] });
  const found = await owner.api.expect(200, "GET", `/webhooks/${webhookId}/deliveries`);
  return found[0].id;
};

/** An issue of a webhook, as a delivery to it that fails makes one. */
const issue: Make = async (world, owner) => {
  const listenerId = await webhook(world, owner);
  const { worker } = world.system;
  const counts = issueCountsOf(worker);
  const ownerId = owner.orgId ?? owner.api.userId;
  const failed = { ownerId, listenerId, deliveryId: newId("dlv"), cause: "timeout", atMs: worker.clock() };
  counts.note({ ...failed, status: null, error: "timeout: no response", isLast: true });
  await counts.flush();
  return issueIdOf(listenerId, "timeout");
};

/** A run, as its record is stored. */
const run: Make = async (world, owner) => {
  const _id = newId("run");
  await RunRecords(world.system.worker.mongo).insertOne({
    ...{ _id, source_id: await source(world, owner), owner_id: owner.orgId ?? owner.api.userId },
    ...{ kind: "http", outcome: "ok", duration_ms: 1, emitted: 1, dropped: {} },
    ...{ finished_at: new Date(), expires_at: new Date(Date.now() + 3_600_000) },
  });
  return _id;
};

const subscription: Make = async (world, owner) => {
  const [emitter_id, listener_id] = [await source(world, owner), await webhook(world, owner)];
  const query = { emitter_id, listener_id, ...orgQuery(owner) };
  return (await owner.api.expect(200, "POST", "/subscriptions", { query })).id;
};

const autoSubscription: Make = async (world, owner) => {
  const query = {
    event_name: "$errors",
    listener_id: await webhook(world, owner),
    ...orgQuery(owner),
  };
  return (await owner.api.expect(200, "POST", "/auto_subscriptions", { query })).id;
};

const publishedKey: Make = async ({ system }, owner) => {
  const key = `published-${++made}`;
  const options = { query: orgQuery(owner), body: { component_code: newCode(key) } };
  const { id } = await owner.api.expect(201, "POST", "/components", options);
  await publishComponent(system.worker, id);
  return key;
};

/** As an app has granted it: it can be asked for again, renewed, and has an endpoint. */
const connection: Make = async ({ system }, owner) => {
  const body = { app: "weather", fields: { api_key: "a key of the contract" } };
  const { id } = await owner.api.expect(201, "POST", "/connections", { body, query: orgQuery(owner) });
  const granted = { fields: {}, accessToken: "granted", refreshToken: "granted, too" };
  const secrets = system.worker.secrets.seal(JSON.stringify(granted));
  await Connections(system.worker.mongo).updateOne(
    { _id: id },
    { $set: { app: "github", kind: "oauth2", secrets, endpoint: newToken() } },
  );
  return id;
};

const session: Make = async (_, { api }) => {
  await signInWith(api);
  return (await api.expect(200, "GET", "/sessions"))[0].id;
};

/** Stores an invitation to the organization, and returns its id. */
export async function newInvitation({ system }: World, owner: Owner, email: string): Promise<string> {
  const { mongo } = system.worker;
  const org_id = owner.orgId ?? (await system.organization((await system.user()).userId));
  await Invitations(mongo).deleteMany({ org_id, email });
  const _id = newId("inv");
  const expires_at = new Date(Date.now() + 60_000);
  await Invitations(mongo).insertOne({ _id, org_id, email, invited_by: "u_x", created_at: 0, expires_at });
  return _id;
}

/** Stores a new user's membership of the organization, and returns the user's id. */
export async function newMember({ system }: World, { orgId = "" }: Owner): Promise<string> {
  const { userId } = await system.user();
  const _id = `${orgId}-${userId}`;
  await Memberships(system.worker.mongo).insertOne({ _id, org_id: orgId, user_id: userId, created_at: 0 });
  return userId;
}

/** An invitation to the user, from an organization of somebody else. */
const invitation: Make = async (world, { api }) => {
  const { email } = await api.expect(200, "GET", "/users/me");
  return await newInvitation(world, { api }, email);
};

const apiKey: Make = async (_, { api }) => (await api.expect(201, "POST", "/api_keys", { body: {} })).id;

interface Thing {
  make: Make;
  /** Prefix of its ids. */
  prefix?: string;
  /** Every account may read it. */
  isPublic?: true;
  /** Belongs to a user, never to an organization. */
  isPersonal?: true;
}

/**
 * Every kind of resource that a path, a parameter or an example may name. The key is the `what` of its access rule,
 * followed by ` by <param>` if the path does not name it by id. The kinds of a new route are added here.
 */
export const THINGS: Record<string, Thing> = {
  component: { make: component, prefix: "sc" },
  "component by key": { make: publishedKey, isPublic: true },
  source: { make: source, prefix: "dc" },
  webhook: { make: webhook, prefix: "wh" },
  destination: { make: destination, prefix: "ds" },
  listener: { make: listener, prefix: "ds" },
  action: { make: action, prefix: "ac" },
  "mcp subscription": { make: mcpSubscription, prefix: "ms" },
  workflow: { make: workflow, prefix: "p" },
  subscription: { make: subscription, prefix: "sub" },
  "auto subscription": { make: autoSubscription, prefix: "asub" },
  connection: { make: connection, prefix: "apn" },
  delivery: { make: delivery, prefix: "dlv" },
  issue: { make: issue, prefix: "iss" },
  run: { make: run, prefix: "run" },
  "API key": { make: apiKey, prefix: "key", isPersonal: true },
  invitation: { make: invitation, prefix: "inv", isPersonal: true },
  replay: {
    make: async (_, owner) =>
      (await owner.api.expect(202, "POST", "/replays", { body: { since: 1 }, query: orgQuery(owner) })).id,
    prefix: "rpl",
  },
  session: { make: session, prefix: "ses", isPersonal: true },
};

/** Returns the kind of resource with this name; throws if it is not in THINGS. */
export function thing(name: string): Thing {
  const found = THINGS[name];
  if (!found) {
    throw new Error(`no resource "${name}": add how to create one to THINGS in test/contract/things.ts`);
  }
  return found;
}
