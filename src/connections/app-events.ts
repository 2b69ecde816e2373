import { type Static, Type } from "typebox";
import { type FieldError, invalidField, invalidFields } from "../lib/errors.ts";
import { INGRESS_PREFIX, ingressBase } from "../lib/hosts.ts";
import { isId, isToken, newToken } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type App, type AppEventRules, Apps, type Connection, Connections } from "../models/connection.ts";
import type { Stores } from "../platform.ts";
import { fillTemplates, TemplateError, type TemplateRules, templateFaults } from "../props/templates.ts";

/** Templates of the rules by which an app's requests are read. */
const IN_REQUESTS: TemplateRules = {
  roots: ["body", "headers", "query", "request"],
  how: "must be the path of a value in the request, such as {{headers.x-event}} or {{body.event.type}}",
  maxBytes: LIMITS.propValueBytes.value,
};

/** Of a text that is one template. The request's body is bounded, so all of the request is. */
const ONE_TEMPLATE = /^\{\{(?:"(?:[^"\\]|\\.)*"|[^{}"])*\}\}$/;
const ONE_IN_REQUESTS: TemplateRules = { ...IN_REQUESTS, maxBytes: Number.POSITIVE_INFINITY };

const MAX_NAMES = 10;
const MAX_CHARS = 500;

const Text = (description: string) => Type.String({ minLength: 1, maxLength: MAX_CHARS, description });

/** How the requests of an app are read, as the API shows and receives it (docs/connections.md#events-of-an-app). */
export const EventRules = Type.Object(
  {
    names: Type.Optional(
      Type.Array(Text("A template, such as `{{headers.x-event}}` or `{{body.type}}:{{body.channel}}`."), {
        maxItems: MAX_NAMES,
        description: "What an event is called; it may have several names.",
      }),
    ),
    event: Type.Optional(
      Text("A template: what sources receive. `{{body}}` by default; `{{request}}` has all of it."),
    ),
    challenge: Type.Optional(
      Text("A template: a text by which the app checks the endpoint; it is sent back, and nothing runs."),
    ),
  },
  { title: "EventRules" },
);
export type EventRules = Static<typeof EventRules>;

/** Throws `invalid` that names each rule which is not a template. */
export function checkEventRules({ names = [], event, challenge }: AppEventRules): void {
  const templates = [
    ...names.map((text, i) => [`events.names[${i}]`, text] as const),
    ...(event === undefined ? [] : [["events.event", event] as const]),
    ...(challenge === undefined ? [] : [["events.challenge", challenge] as const]),
  ];
  if (names.length > MAX_NAMES) throw invalidField("body", "events.names", `must be at most ${MAX_NAMES}`);
  if (event !== undefined && !ONE_TEMPLATE.test(event)) {
    throw invalidField("body", "events.event", "must be one template, such as {{body.event}}");
  }
  const fields = templates.flatMap(([at, text]): FieldError[] => {
    return faultsOf(text).map(message => ({ in: "body", path: at, message }));
  });
  if (fields.length > 0) throw invalidFields(fields);
}

function faultsOf(text: string): string[] {
  if (text.length > MAX_CHARS) return [`must have at most ${MAX_CHARS} characters`];
  if (!text.includes("{{"))
    return ["must have a template, such as {{headers.x-event}} or {{body.event.type}}"];
  return templateFaults(text, IN_REQUESTS).map(({ message }) => message);
}

type WithRules = Pick<Connection, "app" | "events">;

/** Returns by which rules the requests of a connection's app are read: its own, else the operator's, else none. */
export const readEventRules = async ({ mongo }: Stores, { app, events }: WithRules): Promise<AppEventRules> =>
  events ?? (await Apps(mongo).findById(app, { events: 1 }).lean())?.events ?? {};

/** What a change of an app's rules concerns in the routing cache: no account, but all connections of the app. */
export const appInRouting = (app: string): string => `app:${app}`;

/** What an operator has said of the requests of an app. */
export type AppRules = Pick<App, "events" | "verify">;

const NO_RULES: AppRules = {};

/** Returns what the operator has said of an app, from the routing cache, which the caller has refreshed. */
export async function cachedAppRules({ mongo, routing }: Stores, app: string): Promise<AppRules> {
  const find = async () =>
    new Map([[app, (await Apps(mongo).findById(app, { events: 1, verify: 1 }).lean<App>()) ?? NO_RULES]]);
  const found = await routing.lookUp("app-rules", [app], find, () => [appInRouting(app)]);
  return found.get(app) ?? NO_RULES;
}

/** What a request of an app says. */
export interface AppRequest {
  /** What the event in it is called. */
  names: Set<string>;
  /** What sources receive; undefined if the request has none. */
  event: unknown;
  /** What the app wants sent back; null if it only reports an event. */
  challenge: string | null;
}

/** The part of a request that templates may name. */
interface Readable {
  body: unknown;
  headers: Record<string, string>;
  query: Record<string, unknown>;
}

const MAX_NAME = LIMITS.eventNameChars.value;
const MAX_CHALLENGE = 1024;

/** Reads a request of an app by the rules of its connection or of its operator (docs/connections.md#events-of-an-app). */
export function readAppRequest(
  { names = [], event, challenge }: AppEventRules,
  request: Readable,
): AppRequest {
  const { body, headers, query } = request;
  const scope = { body, headers, query, request };
  const find = (template: string, rules = IN_REQUESTS): unknown => {
    try {
      return fillTemplates(template, scope, rules);
    } catch (error) {
      if (error instanceof TemplateError) return undefined;
      throw error;
    }
  };
  const called = names
    .map(name => find(name))
    .filter(isName)
    .map(String);
  const wanted = challenge === undefined ? undefined : find(challenge);
  return {
    names: new Set(called.filter(name => name.length <= MAX_NAME)),
    event: event === undefined ? body : find(event, ONE_IN_REQUESTS),
    challenge: typeof wanted === "string" && wanted.length <= MAX_CHALLENGE ? wanted : null,
  };
}

const isName = (value: unknown): boolean =>
  (typeof value === "string" && value !== "") || typeof value === "number";

/** Returns the public URL at which the events of a connection's app arrive. */
export const appEndpointUrl = (platform: Stores, connectionId: string, endpoint: string): string =>
  `${ingressBase(platform)}${INGRESS_PREFIX}/${connectionId}-${endpoint}`;

/** Returns which connection's endpoint the last part of a URL's path names; null if it is none. */
export function parseAppEndpoint(name: string): { connectionId: string; token: string } | null {
  const [connectionId = "", token = "", ...others] = name.split("-");
  const isOne = others.length === 0 && isId("apn", connectionId) && isToken(token);
  return isOne ? { connectionId, token } : null;
}

/** Returns true if a token is that of a connection's endpoint, or of the one before for as long as that works. */
export const isItsEndpoint = (
  { endpoint, old_endpoint }: Pick<Connection, "endpoint" | "old_endpoint">,
  token: string,
  nowMs: number,
): boolean => token === endpoint || (token === old_endpoint?.name && nowMs < old_endpoint.until_ms);

/**
 * Returns the last part of a connection's endpoint, which is made when a source first listens to its app's events; undefined if the
 * connection has been deleted.
 */
export async function endpointOfConnection(
  platform: Stores,
  ownerId: string,
  connectionId: string,
): Promise<string | undefined> {
  const filter = { _id: connectionId, owner_id: ownerId };
  const made = await Connections(platform.mongo).updateOne(
    { ...filter, endpoint: null },
    { $set: { endpoint: newToken() } },
  );
  if (made.modifiedCount > 0) await platform.routing.invalidate([ownerId]);
  return (await Connections(platform.mongo).findOne(filter, { endpoint: 1 }).lean())?.endpoint;
}
