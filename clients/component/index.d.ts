/** The value on `this` of a prop of type `$.interface.http`. */
export interface HttpInterface {
  readonly endpoint: string;
  readonly endpointUrl: string;
  /** Responds to the request that runs the source. A second call does nothing. */
  respond(response: {
    status?: number | string;
    headers?: Record<string, string | string[]>;
    body?: string | object | Uint8Array;
  }): void;
  /**
   * Sets the secret by which `verify` checks requests, if its `secret` is `{ from: "hook" }`: in `deploy` or `activate`, once. Code
   * can't read it afterwards, and `deactivate` ends it.
   */
  setSecret(secret: string): void;
}

/** The value on `this` of a prop of type `$.service.db`: JSON of at most 60 KB in all, which is kept between runs. */
export interface Db {
  get<Value = unknown>(key: string): Value | undefined;
  /** `undefined` deletes the key. */
  set(key: string, value: unknown): void;
}

export type Timer = { intervalSeconds: number } | { cron: string; timezone?: string };

/** The values on `this` by the type of the prop; of other types any JSON. */
interface Values {
  string: string;
  integer: number;
  boolean: boolean;
  object: Record<string, unknown>;
  any: unknown;
  "string[]": string[];
  "integer[]": number[];
  "boolean[]": boolean[];
  "object[]": Record<string, unknown>[];
  "any[]": unknown[];
  "$.interface.timer": Timer;
  "$.interface.http": HttpInterface;
  "$.service.db": Db;
  app: { $auth: Record<string, string> };
  http_request: {
    url: string;
    execute(): Promise<{ status: number; headers: Record<string, string>; data: unknown }>;
  };
}

/** What the function `options` of a prop gets. */
export interface OptionsRequest {
  page: number;
  prevContext: Record<string, unknown>;
  query?: string;
}

type Choice = string | number | boolean | { label: string; value: unknown };

/** A prop with its fields; docs/component-api.md#props describes each. */
export interface PropObject {
  type: string;
  label?: string;
  description?: string;
  optional?: boolean;
  secret?: boolean;
  hidden?: boolean;
  default?: unknown;
  static?: unknown;
  min?: number;
  max?: number;
  /** What a form offers, or a function that lists it. */
  options?: readonly Choice[] | ((request: OptionsRequest) => unknown);
  useQuery?: boolean;
  reloadProps?: boolean;
  withLabel?: boolean;
  customResponse?: boolean;
  /** How requests are verified before they run (docs/verify.md#in-a-component). */
  verify?: {
    preset?: string;
    rule?: object;
    secret?: string | { from: "hook" };
    tolerance?: number;
    reject_with?: 400 | 401 | 403 | 404;
    drop_repeats?: boolean;
  };
  app?: string;
  appProp?: string;
  eventNames?: readonly string[] | (() => unknown);
  alertType?: "info" | "warning" | "error";
  content?: string;
  [field: string]: unknown;
}

/** A prop: the name of a type, or an object with one. */
export type Prop = keyof Values | `$.${string}` | PropObject;

export type Props = Record<string, Prop>;

type TypeOf<P> = P extends string ? P : P extends { type: infer Type } ? Type : never;
type Whole<P> = TypeOf<P> extends keyof Values ? Values[TypeOf<P>] : unknown;
type Labelled<P> = P extends { withLabel: true } ? { label: string; value: Whole<P> } : Whole<P>;

/** The value of a prop on `this`: perhaps absent if it is optional and has no default. */
export type ValueOf<P> = P extends { default: unknown } | { static: unknown }
  ? Labelled<P>
  : P extends { optional: true }
    ? Labelled<P> | undefined
    : Labelled<P>;

// biome-ignore lint/suspicious/noExplicitAny: any function fits
type Functions = Record<string, (...given: any[]) => unknown>;

/** What `$emit` takes besides the event. */
export interface EmitMetadata {
  /** What dedupe compares. */
  id?: string | number;
  /** The channel; by default the default one. */
  name?: string;
  /** A line for people. */
  summary?: string;
  /** Milliseconds, or a date's text: events of one run are ordered by it. */
  ts?: number | string;
}

/** `this` in the functions of a source. */
export type SourceSelf<P extends Props, Methods> = {
  readonly [Name in keyof P]: ValueOf<P[Name]>;
} & Methods & {
    $emit(event: unknown, metadata?: EmitMetadata): void;
  };

/** `this` in the functions of an action. */
export type ActionSelf<P extends Props, Methods> = { readonly [Name in keyof P]: ValueOf<P[Name]> } & Methods;

/** What a request to the endpoint of a source runs it with. */
export interface HttpEvent {
  method: string;
  path: string;
  query: Record<string, string | string[]>;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent
  body: any;
  /** The exact text. */
  bodyRaw: string;
  /** The exact bytes, where they are not those of the text. */
  bodyBase64?: string;
  url: string;
  client_ip: string;
}

interface ZonedTime {
  timezone: string;
  iso8601: { timestamp: string; date: string; time: string };
}

/** What a timer runs a source with. */
export interface TimerEvent {
  /** The moment that was due, in Unix seconds. */
  timestamp: number;
  interval_seconds?: number;
  cron?: string;
  timezone_configured?: ZonedTime;
  timezone_utc?: ZonedTime;
}

type EventOfType = { "$.interface.http": HttpEvent; "$.interface.timer": TimerEvent };
type InterfacesOf<P extends Props> = Extract<
  { [Name in keyof P]: TypeOf<P[Name]> }[keyof P],
  keyof EventOfType
>;

/** What `run` gets: of its interfaces, or else the event of another emitter. */
// biome-ignore lint/suspicious/noExplicitAny: other emitters emit what they like
export type EventOf<P extends Props> = [InterfacesOf<P>] extends [never] ? any : EventOfType[InterfacesOf<P>];

interface Described<P extends Props, Methods> {
  name: string;
  version: string;
  key?: string;
  description?: string;
  props?: P;
  methods?: Methods;
  additionalProps?(before: Record<string, unknown>): unknown;
}

/** A source; docs/component-api.md describes what it may use. */
export interface SourceDefinition<P extends Props, Methods> extends Described<P, Methods> {
  type?: "source";
  /** How events are told apart by their ids. `unique` remembers the last 100 of them, or as many as `remember` says. */
  dedupe?: "unique" | "greatest" | "last" | { strategy: "unique"; remember: number };
  hooks?: { deploy?(): unknown; activate?(): unknown; deactivate?(): unknown };
  run?(event: EventOf<P>): unknown;
  sampleEmit?: unknown;
}

/** `$` of an action. */
export interface ActionContext {
  /** `id` is the delivery's, the same in each attempt. */
  context: {
    id: string;
    ts: string;
    attempt: number;
    test: boolean;
    event_id: string;
    event_name: string;
    emitter_id: string;
    destination_id: string;
  };
  export(name: string, value: unknown): void;
  flow: { exit(): never };
}

/** An action, which each event runs once. */
export interface ActionDefinition<P extends Props, Methods> extends Described<P, Methods> {
  type: "action";
  run(given: {
    // biome-ignore lint/suspicious/noExplicitAny: any event
    steps: { trigger: { event: any; context: ActionContext["context"] } };
    $: ActionContext;
  }): unknown;
}

/** Returns a source as it is; `this` in its functions has the types of its props. */
export declare function defineSource<
  const P extends Props = Record<never, never>,
  Methods extends Functions = Record<never, never>,
>(component: SourceDefinition<P, Methods> & ThisType<SourceSelf<P, Methods>>): SourceDefinition<P, Methods>;

/** Returns an action as it is; `this` in its functions has the types of its props. */
export declare function defineAction<
  const P extends Props = Record<never, never>,
  Methods extends Functions = Record<never, never>,
>(component: ActionDefinition<P, Methods> & ThisType<ActionSelf<P, Methods>>): ActionDefinition<P, Methods>;
