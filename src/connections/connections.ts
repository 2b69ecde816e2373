import { checkCount } from "../accounts/limits.ts";
import { AppError, invalidField } from "../lib/errors.ts";
import { newId, newToken } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type AppEventRules, type Connection, Connections } from "../models/connection.ts";
import { Sources } from "../models/source.ts";
import { Webhooks } from "../models/webhook.ts";
import type { Stores } from "../platform.ts";
import { transaction } from "../store/connections/mongo.ts";
import { countCacheOf, mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import {
  deleteRevised,
  FIRST_REVISION,
  nextRevision,
  revisionOf,
  writeRevision,
} from "../store/revisions.ts";
import { containing } from "../store/text-filter.ts";
import type { VerifySettings } from "../verify/schema.ts";
import { appEndpointUrl, checkEventRules } from "./app-events.ts";
import type { ConnectionChanges, ConnectionFilter, ConnectionView } from "./schema.ts";
import { keysFields } from "./secrets.ts";
import { presentSettings, sealConnectionVerify } from "./verify.ts";

/** What code may call a field. */
const NAME = /^[A-Za-z_]\w{0,63}$/;
const MAX_BYTES = LIMITS.connectionBytes.value;

/** Throws `invalid` for fields of a connection that can't be stored. The error names the field, and never shows its value. */
function checkFields(fields: Record<string, string>): void {
  for (const name of Object.keys(fields)) {
    if (!NAME.test(name) || name === "__proto__") {
      throw invalidField("body", `fields.${name.slice(0, 64)}`, "must be a name of letters, digits and _");
    }
  }
  const bytes = Object.entries(fields).reduce((sum, pair) => sum + Buffer.byteLength(pair.join("")), 0);
  if (bytes <= MAX_BYTES) return;
  throw invalidField("body", "fields", `must have at most ${MAX_BYTES / 1024} KB of names and values`);
}

const seconds = (ms: number | null): number | null => (ms === null ? null : unixSeconds(ms));

/** Returns a connection as its owner sees it: without anything that is secret. */
export function presentConnection(platform: Stores, connection: Connection): ConnectionView {
  const { _id, user_id, app, kind, name, field_names, scope, health, fault, endpoint, events } = connection;
  return {
    ...{ id: _id, user_id, app, kind, name, field_names, scope, health },
    error: fault && { code: fault.code, message: fault.message, at: unixSeconds(fault.at_ms) },
    expires_at: seconds(connection.expires_at_ms),
    refreshed_at: seconds(connection.renewed_at_ms),
    endpoint_url: endpoint === undefined ? null : appEndpointUrl(platform, _id, endpoint),
    events: events ?? null,
    verify: presentSettings(platform, connection),
    private_addresses: connection.private_addresses ?? [],
    created_at: connection.created_at,
    updated_at: connection.updated_at,
    revision: revisionOf(connection),
  };
}

/** Returns a connection of one of these owners, otherwise null (docs/design.md#guarantee-6). */
export async function findConnection(
  platform: Stores,
  id: string,
  owners: string[],
): Promise<Connection | null> {
  return await Connections(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean();
}

/** The access rule of routes whose path names a connection. */
export const ownConnection = {
  kind: "resource",
  what: "connection",
  isRevised: true,
  load: findConnection,
} as const;

/** Returns a page of an account's connections, newest first. */
export async function listConnections(
  platform: Stores,
  ownerId: string,
  { q }: ConnectionFilter,
  page: PageRequest,
): Promise<Page<ConnectionView>> {
  const connections = {
    owner_id: ownerId,
    ...(q !== undefined && containing<Connection>(q, ["_id", "name", "app"])),
  };
  const found = await pageOf(Connections(platform.mongo), connections, page, {
    countCache: countCacheOf(platform, ownerId, "connections", { q }),
  });
  return mapPage(found, connection => presentConnection(platform, connection));
}

export interface NewKeys {
  ownerId: string;
  userId: string;
  app: string;
  name?: string | undefined;
  fields: Record<string, string>;
  events?: AppEventRules | undefined;
  verify?: VerifySettings | undefined;
}

/** Creates a connection of kind `keys`. Throws `invalid` that names a field, and `limit-reached`. */
export async function createConnection(
  platform: Stores,
  { ownerId, userId, app, name, fields, events, verify }: NewKeys,
): Promise<ConnectionView> {
  checkFields(fields);
  if (events) checkEventRules(events);
  const sealed = verify && (await sealConnectionVerify(platform, app, verify, null));
  await checkCount(platform, ownerId, "connections");
  const now = platform.clock();
  const connection: Connection = {
    ...{ _id: newId("apn", now), owner_id: ownerId, user_id: userId, app, kind: "keys", name: name ?? app },
    ...keysFields(platform, fields),
    ...{ scope: null, expires_at_ms: null, renew_from_ms: null, renewed_at_ms: null },
    ...(events && { events }),
    ...(sealed && { verify: sealed }),
    version: 1,
    revision: FIRST_REVISION,
    ...{ created_at: unixSeconds(now), updated_at: unixSeconds(now) },
  };
  await Connections(platform.mongo).insertOne(connection);
  return presentConnection(platform, connection);
}

/**
 * Renames a connection, or replaces its fields or how its events are read and verified. Throws `invalid` that names a field, and `not-found` if it has been deleted
 * since.
 */
export async function updateConnection(
  platform: Stores,
  connection: Connection,
  changes: ConnectionChanges,
): Promise<ConnectionView> {
  const { _id, owner_id, app, kind } = connection;
  const { name, fields, events, verify } = changes;
  if (fields !== undefined) {
    if (kind !== "keys") throw invalidField("body", "fields", "come from the app: reconnect it instead");
    checkFields(fields);
  }
  if (events) checkEventRules(events);
  const set = {
    ...(name !== undefined && { name }),
    ...(fields !== undefined && keysFields(platform, fields)),
    ...(events !== undefined && { events }),
    ...(verify !== undefined && { verify: await sealConnectionVerify(platform, app, verify, connection) }),
    updated_at: unixSeconds(platform.clock()),
  };
  const updated = await writeRevision(connection, {
    what: "connection",
    namesIn: () => Object.keys(changes),
    read: () => Connections(platform.mongo).findById(_id).lean<Connection | null>(),
    write: (filter, revision) =>
      Connections(platform.mongo)
        .findOneAndUpdate(
          { _id, ...filter },
          { $set: { ...set, ...revision }, ...(fields !== undefined && { $inc: { version: 1 } }) },
          { returnDocument: "after" },
        )
        .lean<Connection | null>(),
  });
  await platform.routing.invalidate([owner_id]);
  return presentConnection(platform, updated);
}

/** Sources that a `conflict` names. */
const MAX_NAMED = 10;

/**
 * Deletes a connection. Throws `conflict` that names the sources and actions which use it, unless it is deleted by force: then their runs
 * fail. The token stays valid with the app until it ends or is revoked there.
 */
export async function deleteConnection(
  platform: Stores,
  connection: Connection,
  { force }: { force: boolean },
): Promise<void> {
  const { _id, owner_id } = connection;
  await transaction(platform.mongo, async session => {
    // First: a source that is given it at the same moment marks it (src/connections/check.ts), and one of the two fails.
    await deleteRevised(Connections(platform.mongo), connection, { session });
    if (force) return;
    const users = await Sources(platform.mongo)
      .find({ connection_ids: _id, state: { $ne: "deleting" } }, { name: 1 }, { session })
      .limit(MAX_NAMED + 1)
      .lean();
    const actions = await Webhooks(platform.mongo)
      .find({ owner_id, connection_ids: _id }, { name: 1 }, { session })
      .limit(MAX_NAMED + 1)
      .lean();
    const all = [...users, ...actions];
    if (all.length > 0) throw inUse(all);
  });
  await platform.routing.invalidate([owner_id]);
  const { arrivedIds, rejections, rejectionState } = platform.keys;
  await platform.redis.del([arrivedIds, rejections, rejectionState].map(keyOf => keyOf(_id)));
}

function inUse(users: { _id: string; name: string | null }[]): AppError {
  const named = users.slice(0, MAX_NAMED).map(({ _id, name }) => (name === null ? _id : `${name} (${_id})`));
  const list = users.length > MAX_NAMED ? [...named, "others"] : named;
  return new AppError(
    "conflict",
    `the connection is used by ${list.join(", ")}: give them another one, or delete it with force=true`,
  );
}

/** How long the old address goes on working, as an old signing key goes on signing. Milliseconds. */
const OVERLAP_MS = 86_400_000;

/**
 * Gives a connection another address for its app's events. The old one works for 24 more hours; one that was replaced before
 * that ends at once. Throws `conflict` if it has none yet, or if another request replaced it in between.
 */
export async function rotateEndpoint(platform: Stores, before: Connection): Promise<ConnectionView> {
  const { _id, owner_id, endpoint } = before;
  if (endpoint === undefined) {
    throw new AppError(
      "conflict",
      "the connection has no endpoint until a source listens to its app's events",
    );
  }
  const next = newToken();
  const now = platform.clock();
  const set = {
    endpoint: next,
    old_endpoint: { name: endpoint, until_ms: now + OVERLAP_MS },
    updated_at: unixSeconds(now),
  };
  const updated = await transaction(platform.mongo, async session => {
    const latest = await Connections(platform.mongo).findOne({ _id, endpoint }).session(session).lean();
    const connection =
      latest &&
      (await Connections(platform.mongo)
        .findOneAndUpdate(
          { _id, endpoint },
          { $set: { ...set, ...nextRevision(latest, ["endpoint_url"]) } },
          { returnDocument: "after", session },
        )
        .lean<Connection>());
    if (!connection) throw new AppError("conflict", "the endpoint was changed by another request");
    await Sources(platform.mongo).updateMany(
      { connection_ids: _id, "app_events.connection_id": _id, owner_id },
      { $set: { "app_events.endpoint": next } },
      { session },
    );
    return connection;
  });
  await platform.routing.invalidate([owner_id]);
  return presentConnection(platform, updated);
}
