import { askEventNames } from "../components/configure/ask-options.ts";
import { endpointOfConnection, readEventRules } from "../connections/app-events.ts";
import { AppError, invalidField } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Component } from "../models/component.ts";
import { type Connection, Connections } from "../models/connection.ts";
import { type AppEvents, type Source, Sources } from "../models/source.ts";
import type { Calling, Stores } from "../platform.ts";
import { connectionIdOf } from "../props/check-value.ts";
import type { StoredProps } from "../props/configure.ts";
import { APP_TYPE, APPHOOK_TYPE } from "../props/kinds.ts";
import type { DescribedProp } from "../sandbox/protocol.ts";

interface ListenRequest {
  /** The component's own props, with those that were made. */
  props: DescribedProp[];
  values: StoredProps;
  /** The props that `additionalProps` made. */
  added: DescribedProp[] | undefined;
  before: Source | undefined;
}

const MAX_LISTENERS = LIMITS.appEventListeners.value;

/**
 * Returns which events of an app run a source with these values; null if its component has no apphook. The connection gets its
 * endpoint if it has none yet. Throws `invalid` that says why no event would reach the source, `limit-reached` if as many
 * sources listen to the connection as may, and as `askEventNames` does.
 */
export async function appEventsOf(
  platform: Calling,
  ownerId: string,
  component: Component,
  { props, values, added, before }: ListenRequest,
): Promise<AppEvents | null> {
  const prop = props.find(({ type }) => type === APPHOOK_TYPE);
  if (!prop) return null;
  const { app, connectionId } = accountOf(prop, props, values);
  const connection = await Connections(platform.mongo)
    .findOne({ _id: connectionId, owner_id: ownerId }, { app: 1, events: 1 })
    .lean();
  if (!connection) throw noConnection(app, `the account has no connection ${connectionId}`);
  const isListening = before?.app_events?.connection_id === connectionId;
  if (!isListening) await checkListeners(platform, connectionId);
  const names = prop.remoteEventNames
    ? await askEventNames(platform, ownerId, component, { prop: prop.name, props, values, added })
    : (prop.eventNames ?? []);
  if (names.length > 0 && !(await readEventRules(platform, connection)).names?.length) {
    throw invalidField(
      "body",
      `configured_props.${prop.name}`,
      `no event would reach it: how the app ${connection.app} names its events is not known; ` +
        `give the connection ${connectionId} events.names (docs/connections.md)`,
    );
  }
  const endpoint = await endpointOfConnection(platform, ownerId, connectionId);
  if (endpoint === undefined) throw noConnection(app, "the connection was deleted by another request");
  return { connection_id: connectionId, endpoint, names: names.length > 0 ? names : null };
}

/** Returns the connection whose app sends the events, and the prop that names it. */
function accountOf(prop: DescribedProp, props: DescribedProp[], values: StoredProps) {
  const app = props.find(({ name, type }) => name === prop.appProp && type === APP_TYPE);
  if (!app) {
    throw invalidField("component", `props.${prop.name}.appProp`, "must be the name of a prop of type app");
  }
  const connectionId = connectionIdOf(values[app.name]);
  if (connectionId === null) {
    throw noConnection(
      app.name,
      'must be a connection ({authProvisionId: "apn_…"}): the app sends its events to the endpoint of one',
    );
  }
  return { app: app.name, connectionId };
}

const noConnection = (app: string, message: string) =>
  invalidField("body", `configured_props.${app}`, message);

/** Called without a lock: requests at the same moment may exceed the bound by as many as they are. */
async function checkListeners({ mongo }: Stores, connectionId: string): Promise<void> {
  const filter = { connection_ids: connectionId, "app_events.connection_id": connectionId };
  if ((await Sources(mongo).countDocuments(filter, { limit: MAX_LISTENERS })) < MAX_LISTENERS) return;
  throw new AppError(
    "limit-reached",
    `${MAX_LISTENERS} sources listen to the events of ${connectionId}, as many as may`,
  );
}

/** A source that listens to the events of a connection. */
export interface AppListener extends Pick<Source, "_id" | "owner_id"> {
  app_events: AppEvents;
}

/** More than the bound permits, because it is checked without a lock. */
const MOST = LIMITS.appEventListeners.value * 2;

/**
 * Returns the active sources that listen to an event of these names at a connection. From the routing cache, which the
 * caller has refreshed: a source that was disabled, deleted or changed before that is not among them.
 */
export async function appListenersOf(
  { mongo, routing }: Stores,
  { _id, owner_id }: Pick<Connection, "_id" | "owner_id">,
  names: ReadonlySet<string>,
): Promise<AppListener[]> {
  const found = await routing.lookUp(
    "app-listeners",
    [_id],
    async () => {
      const listening = { connection_ids: _id, "app_events.connection_id": _id, owner_id };
      const sources = Sources(mongo)
        .find({ ...listening, active: true, state: "ready" }, { owner_id: 1, app_events: 1 })
        .limit(MOST);
      return new Map([[_id, await sources.lean<AppListener[]>()]]);
    },
    () => [owner_id],
    sources => sources.reduce((sum, { app_events }) => sum + (app_events.names?.join().length ?? 0), 0),
  );
  const listensTo = ({ app_events }: AppListener) => app_events.names?.some(name => names.has(name)) ?? true;
  return (found.get(_id) ?? []).filter(listensTo);
}
