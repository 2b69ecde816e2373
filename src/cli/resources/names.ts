import { Argument, Option } from "commander";
import {
  type CallOptions,
  type Headwater,
  NotFoundError,
  type Schemas,
} from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";

/** One of the account's things: its id, and the name that commands take for it; null for none. */
export interface Nameable {
  id: string;
  name: string | null;
}

/** Lists the things of which a command may be given one, newest first. */
export type Names = (client: Headwater, call?: CallOptions) => AsyncIterable<Nameable>[];

/** An argument that is one of the account's things; `headwater completion` completes it. */
export class NamedArgument extends Argument {
  readonly names: Names;

  constructor(name: string, description: string, names: Names) {
    super(name, description);
    this.names = names;
  }
}

/** An option whose value is one of the account's things; `headwater completion` completes it. */
export class NamedOption extends Option {
  readonly names: Names;

  constructor(flags: string, description: string, names: Names) {
    super(flags, description);
    this.names = names;
  }
}

const workflows = (client: Headwater, call?: CallOptions) => client.workflows.list({}, call);
const webhooks = (client: Headwater, call?: CallOptions) => client.webhooks.list({}, call);
const destinations = (client: Headwater, call?: CallOptions) => client.destinations.list({}, call);
const sources = (client: Headwater, call?: CallOptions) => client.sources.list({}, call);
const subscriptions = (client: Headwater, call?: CallOptions) => client.subscriptions.list({}, call);
const connections = (client: Headwater, call?: CallOptions) => client.connections.list({}, call);
const components = (client: Headwater, call?: CallOptions) =>
  // Of each row its code may be 1 MB.
  client.components.list({ exclude: "code" } as Parameters<typeof client.components.list>[0], call);

export const SOURCES: Names = (...of) => [
  mapped(sources(...of), ({ id, name_slug }) => ({ id, name: name_slug })),
];
export const WORKFLOWS: Names = (...of) => [workflows(...of)];
export const EMITTERS: Names = (...of) => [...SOURCES(...of), ...WORKFLOWS(...of)];
export const WEBHOOKS: Names = (...of) => [webhooks(...of)];
export const DESTINATIONS: Names = (...of) => [destinations(...of)];
export const RECEIVERS: Names = (...of) => [webhooks(...of), destinations(...of)];
/** Sources and workflows listen by their ids only. */
export const LISTENERS: Names = (...of) => [
  ...RECEIVERS(...of),
  mapped(sources(...of), byId),
  mapped(workflows(...of), byId),
];
/** All that has a name of its own in the dashboard. */
export const EVERYTHING: Names = (...of) => [...EMITTERS(...of), ...RECEIVERS(...of)];
export const SUBSCRIPTIONS: Names = (...of) => [mapped(subscriptions(...of), byId)];
export const CONNECTIONS: Names = (...of) => [mapped(connections(...of), byId)];
export const COMPONENTS: Names = (...of) => [latestByKey(components(...of))];
export const COMPONENT_IDS: Names = (...of) => [mapped(components(...of), byId)];
export const AGENTS: Names = (client, call) => [mapped(client.mcpSubscriptions.list({}, call), byId)];
export const APPS: Names = (...of) => [apps(...of)];

const byId = ({ id }: { id: string }): Nameable => ({ id, name: null });

async function* mapped<Row>(list: AsyncIterable<Row>, nameable: (row: Row) => Nameable) {
  for await (const row of list) yield nameable(row);
}

/** A key means the latest component that has it. */
async function* latestByKey(list: AsyncIterable<Schemas["Component"]>): AsyncIterable<Nameable> {
  const keys = new Set<string | null>();
  for await (const { id, key = null } of list) {
    if (key === null || !keys.has(key)) yield { id, name: key };
    keys.add(key);
  }
}

async function* apps(client: Headwater, call?: CallOptions): AsyncIterable<Nameable> {
  const { data } = await client.connections.apps(call);
  for (const { slug } of data) yield { id: slug, name: slug };
}

type Webhook = Schemas["Webhook"];
type Destination = Schemas["Destination"];

/** So many ids are named in a message. */
const MAX_SHOWN = 5;

/** Returns a source by its id or name slug. Throws the client's `not-found`. */
export const findSource = (client: Headwater, idOrName: string): Promise<Schemas["SourceDetail"]> =>
  client.sources.get(idOrName);

/**
 * Returns the id of a source, given as id or name slug, or of a workflow, given as id or name; a source comes first. Throws
 * AppError `not-found`, and `invalid` if several workflows have that name.
 */
export async function findEmitterId(client: Headwater, idOrName: string): Promise<string> {
  if (/^(p|dc)_/.test(idOrName)) return idOrName;
  const sourceId = await sourceIdOf(client, idOrName);
  if (sourceId !== null) return sourceId;
  return (await onlyOneCalled(idOrName, "source or workflow", [workflows(client)])).id;
}

/** Returns the id of a source by its slug, or else of the only workflow, webhook or destination of a name. Throws as `findWebhook`. */
export async function findThingId(client: Headwater, name: string): Promise<string> {
  const sourceId = await sourceIdOf(client, name);
  if (sourceId !== null) return sourceId;
  const lists: AsyncIterable<Nameable>[] = [workflows(client), webhooks(client), destinations(client)];
  return (await onlyOneCalled(name, "source, workflow, webhook or destination", lists)).id;
}

/** Returns the id of the source with a name slug; null if there is none. */
async function sourceIdOf(client: Headwater, slug: string): Promise<string | null> {
  try {
    return (await findSource(client, slug)).id;
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}

/** Returns a workflow by its id or name. Throws as `findWebhook`. */
export async function findWorkflow(client: Headwater, idOrName: string): Promise<Schemas["WorkflowDetail"]> {
  if (/^p_/.test(idOrName)) return await client.workflows.get(idOrName);
  const { id } = await onlyOneCalled(idOrName, "workflow", [workflows(client)]);
  return await client.workflows.get(id);
}

/** Returns a webhook by its id or name. Throws AppError `not-found`, and `invalid` if several have that name. */
export async function findWebhook(client: Headwater, idOrName: string): Promise<Webhook> {
  if (isWebhookId(idOrName)) return await client.webhooks.get(idOrName);
  return await onlyOneCalled(idOrName, "webhook", [webhooks(client)]);
}

/** Returns a destination by its id or name, an action too. Throws as `findWebhook`. */
export async function findDestination(client: Headwater, idOrName: string): Promise<Destination> {
  if (isDestinationId(idOrName)) return await client.destinations.get(idOrName);
  return await onlyOneCalled(idOrName, "destination", [destinations(client)]);
}

/** Returns what has deliveries by its id or name: a webhook or a destination. Throws as `findWebhook`. */
export async function findReceiver(client: Headwater, idOrName: string): Promise<Webhook | Destination> {
  if (isWebhookId(idOrName)) return await client.webhooks.get(idOrName);
  if (isDestinationId(idOrName)) return await client.destinations.get(idOrName);
  const lists = [webhooks(client), destinations(client)];
  return await onlyOneCalled<Webhook | Destination>(idOrName, "webhook or destination", lists);
}

const isWebhookId = (id: string) => /^wh_/.test(id);
/** Also that of an action. */
export const isDestinationId = (id: string) => /^(ds|ac)_/.test(id);

async function onlyOneCalled<Thing extends { id: string; name: string | null }>(
  name: string,
  what: string,
  lists: AsyncIterable<Thing>[],
): Promise<Thing> {
  const found: Thing[] = [];
  for (const list of lists) for await (const thing of list) if (thing.name === name) found.push(thing);
  const [only] = found;
  if (!only) {
    const hint = `headwater ${what.split(" ")[0]} list shows them`;
    throw new AppError("not-found", `${what}: none is called ${name}; ${hint}`);
  }
  if (found.length === 1) return only;
  const ids = found.slice(0, MAX_SHOWN).map(({ id }) => id);
  throw new AppError("invalid", `${what}: several are called ${name}, name one by its id: ${ids.join(", ")}`);
}
