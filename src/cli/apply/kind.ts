import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import type { SavedComponent } from "../deploy/deploy.ts";
import type { Change, DifferingSecrets, FieldChange } from "./compare.ts";
import type {
  DeclaredAction,
  DeclaredComponent,
  DeclaredConnection,
  DeclaredDestination,
  DeclaredSource,
  DeclaredWebhook,
} from "./schema.ts";
import type { Ids } from "./state.ts";

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
