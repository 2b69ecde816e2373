import { type Static, Type } from "typebox";
import { NullableInteger, OrNull } from "../lib/schemas.ts";
import { APP_SLUG } from "../lib/slug.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { Revision } from "../store/revisions.ts";
import { TextFilter } from "../store/text-filter.ts";
import { ShownVerify, VerifySettings } from "../verify/schema.ts";
import { EventRules } from "./app-events.ts";

/** A connection as the API shows it (docs/rest-api.md#connection). */
export const ConnectionView = Type.Object(
  {
    id: Type.String({ description: "`apn_…`; the `authProvisionId` of an `app` prop." }),
    user_id: Type.String({ description: "The user who created it." }),
    app: Type.String({ description: "Slug of the app, as `app` props name it." }),
    kind: Type.Union([Type.Literal("keys"), Type.Literal("oauth2")], {
      description: "`keys`: its fields were given. `oauth2`: the app granted its access, which is renewed.",
    }),
    name: Type.String({ description: "Label shown in listings." }),
    field_names: Type.Array(Type.String(), {
      description: "Names of the fields in `$auth` of runs; the values are never shown.",
    }),
    scope: Type.Union([Type.String(), Type.Null()], {
      description: "What the app granted, as far as it said so.",
    }),
    health: Type.Union([Type.Literal("working"), Type.Literal("failing"), Type.Literal("broken")], {
      description:
        "`failing`: its token has ended and can't be renewed at the moment, which is tried again. `broken`: it must be " +
        "reconnected.",
    }),
    error: Type.Union(
      [
        Type.Object({
          code: Type.String({
            description: "The app's error code, such as `invalid_grant`, or one of ours.",
          }),
          message: Type.String(),
          at: Type.Integer({ description: "Unix seconds." }),
        }),
        Type.Null(),
      ],
      {
        description:
          "Why the last renewal failed; `token-rejected`: code got HTTP 401 with a token that had not ended. Null if neither.",
      },
    ),
    expires_at: NullableInteger("Unix seconds: when its access token ends; null if it doesn't."),
    refreshed_at: NullableInteger("Unix seconds: when its access token was last granted or renewed."),
    endpoint_url: Type.Union([Type.String(), Type.Null()], {
      description: "Where its app sends events; null until a source listens to them, and for viewers.",
    }),
    events: Type.Union([EventRules, Type.Null()], {
      description: "How these events are read, if it was said for this connection and not for the app.",
    }),
    verify: OrNull(
      ShownVerify,
      "How requests at its endpoint are verified, as far as it was said for this connection; what is said for the app counts beside it.",
    ),
    private_addresses: Type.Array(Type.String(), {
      description:
        "Hosts and ports beside public addresses that code with this connection may connect to; an operator sets them.",
    }),
    created_at: Type.Integer({ description: "Unix seconds." }),
    updated_at: Type.Integer({ description: "Unix seconds." }),
    revision: Revision,
  },
  { title: "Connection" },
);
export type ConnectionView = Static<typeof ConnectionView>;

/** An app that accounts can connect by its consent. */
export const AppView = Type.Object(
  {
    slug: Type.String({ description: "As `app` props name it." }),
    name: Type.String({ description: "As people know it." }),
    scopes: Type.Array(Type.String(), { description: "What a connection asks for." }),
    events: Type.Union([EventRules, Type.Null()], {
      description: "How the events that it sends are read; null if the operator has not said it.",
    }),
    verify: OrNull(
      ShownVerify,
      "How requests at the endpoints of its connections are verified; null: as each connection says.",
    ),
  },
  { title: "App" },
);
export type AppView = Static<typeof AppView>;

/** Where a person agrees to a connection. */
export const ConsentView = Type.Object(
  {
    connection_id: Type.String({
      description: "Id of the connection, which exists once the person has agreed.",
    }),
    url: Type.String({
      description: "A page of this server, which sends the browser on to the app. It works once.",
    }),
    expires_at: Type.Integer({ description: "Unix seconds: until then the page can be opened." }),
  },
  { title: "Consent" },
);
export type ConsentView = Static<typeof ConsentView>;

const AppSlug = Type.String({ pattern: APP_SLUG, description: "Slug of the app, as `app` props name it." });
const Name = Type.String({ minLength: 1, maxLength: 128 });
const Fields = Type.Record(Type.String(), Type.String(), {
  minProperties: 1,
  maxProperties: LIMITS.connectionFields.value,
  description: "What runs find in `$auth`, by name; stored encrypted.",
});

export const NewConnection = Type.Object({
  app: AppSlug,
  name: Type.Optional(Name),
  fields: Fields,
  events: Type.Optional(EventRules),
  verify: Type.Optional(VerifySettings),
});

export const NewConsent = Type.Object({ app: AppSlug, name: Type.Optional(Name) });

/** What selects connections of a list. */
export const ConnectionFilter = Type.Object({ q: TextFilter("their name, app or id") });
export type ConnectionFilter = Static<typeof ConnectionFilter>;

export const ConnectionChanges = Type.Object({
  name: Type.Optional(Name),
  fields: Type.Optional(Fields),
  events: Type.Optional(Type.Union([EventRules, Type.Null()], { description: "Null: as the app's." })),
  verify: Type.Optional(OrNull(VerifySettings, "Null: as the app's.")),
});
export type ConnectionChanges = Static<typeof ConnectionChanges>;
