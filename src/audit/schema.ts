import { type Static, Type } from "typebox";
import { OrNull, patternInWords, UnixMs, UnixSeconds } from "../lib/schemas.ts";
import { version } from "../lib/versions.ts";

const Actor = Type.Object({
  kind: Type.Union(
    [Type.Literal("api_key"), Type.Literal("session"), Type.Literal("operator"), Type.Literal("headwater")],
    {
      description:
        "What the request came with; `operator` for the command line of who runs this installation, `headwater` for what it did by itself.",
    },
  ),
  user_id: OrNull(Type.String(), "The user; null for the last two."),
  user_name: OrNull(Type.String(), "As the user is called now."),
  id: OrNull(Type.String(), "The API key or the session."),
  name: OrNull(Type.String(), "What its user called the API key."),
  prefix: OrNull(Type.String(), "How the API key begins."),
  signed_in_with: OrNull(
    Type.Union([Type.Literal("api_key"), Type.Literal("openid")]),
    "What the session began with: an API key, or a link made with one, or an OpenID provider. Null for others.",
  ),
});

/** An entry of the audit log, as the API shows it (docs/rest-api.md#audit-log). */
export const AuditEntryView = Type.Object(
  {
    id: Type.String({ description: "`aud_…`." }),
    at_ms: UnixMs("When it was done."),
    action: Type.String({
      description: "The kind of thing and what happened to it, such as `webhook.updated`.",
    }),
    actor: Actor,
    thing: OrNull(
      Type.Object({
        kind: Type.String({ description: "`webhook`, `source`, …" }),
        id: Type.String(),
        name: OrNull(Type.String(), "As it was called then."),
        exists: Type.Boolean({
          description: "Whether it can still be read by its id; false for kinds that can't.",
        }),
      }),
      "What was changed; null for what has no id.",
    ),
    fields: Type.Array(Type.String(), {
      description: "Names of the fields and parameters that the request set. Their values are not kept.",
    }),
    outcome: Type.Union([Type.Literal("done"), Type.Literal("accepted")], {
      description: "`accepted`: a worker went on with it (202).",
    }),
    reason: OrNull(Type.String(), "Why Headwater did it; null for what somebody did."),
    address: OrNull(Type.String(), "The client's IP address; null if there was no request."),
    user_agent: OrNull(Type.String(), "What the client called itself, its first 200 characters."),
  },
  { title: "AuditEntry" },
);
export type AuditEntryView = Static<typeof AuditEntryView>;

export const AuditFilter = Type.Object({
  action: Type.Optional(
    Type.String({
      maxLength: 64,
      pattern: patternInWords("^[a-z_]+\\.[a-z_]+$", "must be an action, such as webhook.updated"),
      description: "Only this action.",
    }),
  ),
  actor_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Only what this user, API key or session did; or `operator`, or `headwater`.",
    }),
  ),
  thing_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: "Only what was done to this thing." }),
  ),
  since: Type.Optional(UnixSeconds("Only what was done since this time")),
  until: Type.Optional(UnixSeconds("Only what was done until this time")),
});
export type AuditFilter = Static<typeof AuditFilter>;

/** The entry of the API's examples. */
export const exampleEntry: AuditEntryView = {
  id: "aud_0CjBCy3Yv9LsB6zP",
  at_ms: 1_700_000_000_000,
  action: "webhook.updated",
  actor: {
    kind: "api_key",
    user_id: "u_0CjB8sXp1LmN4vYb",
    user_name: "anna",
    id: "key_0CjB8sYq2MnO5wZc",
    name: "deploy script",
    prefix: "hw_0123",
    signed_in_with: null,
  },
  thing: { kind: "webhook", id: "wh_0CjBAEdF3kWq9RtZ", name: "orders", exists: true },
  fields: ["url", "active"],
  outcome: "done",
  reason: null,
  address: "203.0.113.7",
  user_agent: `Headwater/${version}`,
};
