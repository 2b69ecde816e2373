import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import type { SavedComponent } from "../deploy/deploy.ts";
import type { Change, DifferingSecrets, FieldChange } from "./compare.ts";
import {
  ACCOUNT,
  type DeclaredAction,
  type DeclaredComponent,
  type DeclaredConnection,
  type DeclaredDestination,
  type DeclaredSource,
  type DeclaredWebhook,
  EMITTERS,
  NAMED,
  type Named,
} from "./schema.ts";

/** What the account has of a project, by the names in its file. */
export interface State {
  connections: Map<string, Schemas["Connection"]>;
  workflows: Map<string, Schemas["Workflow"]>;
  sources: Map<string, Schemas["Source"]>;
  webhooks: Map<string, Schemas["Webhook"]>;
  /** Without actions. */
  destinations: Map<string, Schemas["Destination"]>;
  actions: Map<string, Schemas["Destination"]>;
  /** All of the account's. */
  subscriptions: Schemas["Subscription"][];
}

/** The name on the server of what a project calls `name`: by it, `apply` recognizes what it made. */
export const fullName = (project: string, name: string): string => `${project}/${name}`;

/** Reads what the account has of a project. Throws AppError `conflict` if two things of a kind have the same name. */
export async function readState(client: Headwater, project: string): Promise<State> {
  const [connections, workflows, sources, webhooks, destinations, subscriptions] = await Promise.all([
    allOf(client.connections.list()),
    allOf(client.workflows.list()),
    allOf(client.sources.list()),
    allOf(client.webhooks.list()),
    allOf(client.destinations.list()),
    allOf(client.subscriptions.list()),
  ]);
  const isAction = ({ kind }: Schemas["Destination"]) => kind === "action";
  return {
    connections: ofProject(connections, project, "connections"),
    workflows: ofProject(workflows, project, "workflows"),
    sources: ofProject(sources, project, "sources"),
    webhooks: ofProject(webhooks, project, "webhooks"),
    destinations: ofProject(
      destinations.filter(one => !isAction(one)),
      project,
      "destinations",
    ),
    actions: ofProject(destinations.filter(isAction), project, "actions"),
    subscriptions,
  };
}

async function allOf<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

function ofProject<Row extends { id: string; name: string | null }>(
  rows: Row[],
  project: string,
  kind: string,
): Map<string, Row> {
  const prefix = fullName(project, "");
  const found = new Map<string, Row>();
  for (const row of rows) {
    if (!row.name?.startsWith(prefix)) continue;
    const name = row.name.slice(prefix.length);
    const other = found.get(name);
    if (other) {
      throw new AppError(
        "conflict",
        `two ${kind} are called ${row.name}, ${other.id} and ${row.id}: delete one`,
      );
    }
    found.set(name, row);
  }
  return found;
}

/** The ids of the project's things, by their part of the file and their name; what is made is added. */
export interface Ids extends Record<Named | "connections", Map<string, string>> {
  /** Of the account itself; undefined if nothing of the file is from it. */
  account: string | undefined;
}

/** Returns the ids of what the account has of a project. */
export const idsOf = ({ subscriptions: _, ...parts }: State, account: string | undefined): Ids => {
  const ids = (found: Map<string, { id: string }>) => new Map([...found].map(([name, { id }]) => [name, id]));
  const byPart = Object.fromEntries(Object.entries(parts).map(([part, found]) => [part, ids(found)]));
  return { ...(byPart as Omit<Ids, "account">), account };
};

/** Returns the id of what a subscription is from: a name of the file, the account, or an id already. */
export const emitterId = (from: string, ids: Ids): string =>
  from === ACCOUNT && ids.account !== undefined ? ids.account : idIn(EMITTERS, from, ids);

/** Returns the id of what a subscription goes to. */
export const listenerId = (to: string, ids: Ids): string => idIn(NAMED, to, ids);

const idIn = (parts: readonly Named[], end: string, ids: Ids): string =>
  parts.map(part => ids[part].get(end)).find(id => id !== undefined) ?? end;

/** Returns an end of a subscription as the server knows it. Throws AppError `conflict` for a name without an id. */
export function madeId(end: string): string {
  if (/^(dc|p|wh|ds|ac|o|u)_/.test(end)) return end;
  throw new AppError("conflict", `${end} was not made`);
}

/** Returns the names of the project's things by id: of all that the account has, and of those that its file has too. */
export function namesById(state: State, declaration: { project: string } & Partial<Record<Named, object>>) {
  const named = NAMED.flatMap(part => [...state[part]].map(([name, { id }]) => ({ part, name, id })));
  const byId = (some: typeof named): ReadonlyMap<string, string> =>
    new Map(some.map(({ id, name }) => [id, fullName(declaration.project, name)]));
  const isDeclared = ({ part, name }: (typeof named)[number]) => Object.hasOwn(declaration[part] ?? {}, name);
  return { all: byId(named), staying: byId(named.filter(isDeclared)) };
}

/** What each part of a file declares by name, and what the server shows of such a thing. */
export interface Things {
  connections: [wanted: DeclaredConnection, current: Schemas["Connection"]];
  workflows: [wanted: object | null, current: Schemas["Workflow"]];
  webhooks: [wanted: DeclaredWebhook, current: Schemas["Webhook"]];
  destinations: [wanted: DeclaredDestination, current: Schemas["Destination"]];
  actions: [wanted: DeclaredAction, current: Schemas["Destination"]];
  sources: [wanted: DeclaredSource, current: Schemas["Source"]];
}
export type Part = keyof Things;

/** One thing of a file. */
export interface One<Wanted, Current> {
  /** In the file: `webhooks.inbox`. */
  at: string;
  /** On the server. */
  name: string;
  wanted: Wanted;
  /** As the file has it, without the values of the environment. */
  shown: Wanted;
  /** What the server has of that name. */
  current: Current | undefined;
}

/** What is to be done to one thing; nothing to one that is there and has no field that differs. */
export interface Planned {
  fields: FieldChange[];
  /** Makes it, or changes it, and returns what it is then. Throws the client's errors. */
  apply: () => Promise<{ id: string }>;
  /** Says what is wrong with it before anything is changed. Throws the client's errors. */
  problems?: () => Promise<string[]>;
}

/** How the things of one part of a file are compared with the server, made, changed and deleted. */
export interface Kind<Wanted, Current> {
  /** As plans call it. */
  word: Change["kind"];
  /** Null for what a person has to make. Throws AppErrors, and the client's errors. */
  plan: (one: One<Wanted, Current>, tools: Tools) => Promise<Planned | null>;
  /** Disables one that was made: nothing can be made so. */
  disable?: (client: Headwater, id: string) => Promise<unknown>;
  remove: (client: Headwater, id: string) => Promise<unknown>;
}

/** The kind of each part. */
export type Kinds = { [Name in Part]: Kind<Things[Name][0], Things[Name][1]> };

/** The component that a source or an action is to have. */
export type WantedComponent =
  | { saved: Schemas["Component"]; naming: Naming }
  /** `code` is null if it has several files: what it declares is known only once it is saved. */
  | { hash: string; location: string; code: string | null };

/** The field of a request that names a component. A key stays one: the server says whether it means several. */
export type Naming = { component_id: string } | { key: string };

/** What the planning of every kind needs. */
export interface Tools {
  client: Headwater;
  /** The file, for messages; what it names is relative to it. */
  path: string;
  /** The ids of what is there; what is made is added. */
  ids: Ids;
  differing: DifferingSecrets;
  /** Returns the component that what is at `at` in the file is to have. */
  wantedOf: (at: string, declared: DeclaredComponent) => Promise<WantedComponent>;
  /** Saves a component, by its file or address, and returns it. */
  save: (location: string) => Promise<SavedComponent>;
  /** Gets the signing key of each webhook that is made. */
  onKey: (name: string, signingKey: string) => void;
  /** Gets each command with which a person asks for a connection that only a person can make. */
  onConsent: (command: string) => void;
}
