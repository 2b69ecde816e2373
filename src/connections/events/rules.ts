import { type Static, Type } from "typebox";
import { AppError, type FieldError, invalidField } from "../../lib/errors.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { type AppEventRules, Apps } from "../../models/app.ts";
import type { Connection } from "../../models/connection.ts";
import type { Platform } from "../../platform.ts";
import { type TemplateRules, templateFaults } from "../../props/templates.ts";

/** Templates of the rules by which an app's requests are read. */
export const IN_REQUESTS: TemplateRules = {
  roots: ["body", "headers", "query", "request"],
  how: "must be the path of a value in the request, such as {{headers.x-event}} or {{body.event.type}}",
  maxBytes: LIMITS.propValueBytes.value,
};

/** Of a text that is one template. The request's body is bounded, so all of the request is. */
const ONE_TEMPLATE = /^\{\{(?:"(?:[^"\\]|\\.)*"|[^{}"])*\}\}$/;
export const ONE_IN_REQUESTS: TemplateRules = { ...IN_REQUESTS, maxBytes: Number.POSITIVE_INFINITY };

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

/** Throws `invalid` that names each rule which is not a template, at a path below `path`. */
export function checkEventRules({ names = [], event, challenge }: AppEventRules, path = "events"): void {
  const templates = [
    ...names.map((text, i) => [`${path}.names[${i}]`, text] as const),
    ...(event === undefined ? [] : [[`${path}.event`, event] as const]),
    ...(challenge === undefined ? [] : [[`${path}.challenge`, challenge] as const]),
  ];
  if (names.length > MAX_NAMES) throw invalidField("body", `${path}.names`, `must be at most ${MAX_NAMES}`);
  if (event !== undefined && !ONE_TEMPLATE.test(event)) {
    throw invalidField("body", `${path}.event`, "must be one template, such as {{body.event}}");
  }
  const fields = templates.flatMap(([at, text]): FieldError[] => {
    return faultsOf(text).map(message => ({ in: "body", path: at, message }));
  });
  if (fields.length === 0) return;
  const detail = fields.map(field => `${field.path}: ${field.message}`).join("; ");
  throw new AppError("invalid", detail, { fields });
}

function faultsOf(text: string): string[] {
  if (text.length > MAX_CHARS) return [`must have at most ${MAX_CHARS} characters`];
  if (!text.includes("{{"))
    return ["must have a template, such as {{headers.x-event}} or {{body.event.type}}"];
  return templateFaults(text, IN_REQUESTS).map(({ message }) => message);
}

type WithRules = Pick<Connection, "app" | "events">;

/** Returns by which rules the requests of a connection's app are read: its own, else the operator's, else none. */
export const readEventRules = async (
  { mongo }: Pick<Platform, "mongo">,
  { app, events }: WithRules,
): Promise<AppEventRules> => events ?? (await Apps(mongo).findById(app, { events: 1 }).lean())?.events ?? {};

/** What a change of an app's rules concerns in the routing cache: no account, but all connections of the app. */
export const appInRouting = (app: string): string => `app:${app}`;

/** As `readEventRules`, from the routing cache, which the caller has refreshed. */
export async function cachedEventRules(
  platform: Pick<Platform, "mongo" | "routing">,
  connection: WithRules,
): Promise<AppEventRules> {
  if (connection.events) return connection.events;
  const { app } = connection;
  const find = async () => new Map([[app, await readEventRules(platform, connection)]]);
  const found = await platform.routing.lookUp("app-events", [app], find, () => [appInRouting(app)]);
  return found.get(app) ?? {};
}
