import { Argument, Option } from "commander";
import type { CallOptions, Headwater, Schemas } from "../../../clients/typescript/src/index.ts";

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

export const workflows = (client: Headwater, call?: CallOptions) => client.workflows.list({}, call);
export const webhooks = (client: Headwater, call?: CallOptions) => client.webhooks.list({}, call);
export const destinations = (client: Headwater, call?: CallOptions) => client.destinations.list({}, call);
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
export const SUBSCRIPTIONS: Names = (...of) => [mapped(subscriptions(...of), byId)];
export const CONNECTIONS: Names = (...of) => [mapped(connections(...of), byId)];
export const COMPONENTS: Names = (...of) => [latestByKey(components(...of))];
export const COMPONENT_IDS: Names = (...of) => [mapped(components(...of), byId)];
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
