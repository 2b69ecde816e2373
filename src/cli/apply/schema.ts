import { type Static, Type } from "typebox";

/** A name: it is part of the thing's name on the server, and of plans. */
const NAME = "^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$";
/** So many things of one kind in a file. */
const MOST = 1000;

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const closed = { additionalProperties: false };
const byName = <T extends ReturnType<typeof Type.Object>>(schema: T) =>
  Type.Record(Type.String({ pattern: NAME }), schema, { ...closed, maxProperties: MOST });

const DeclaredSource = Type.Object(
  {
    /** Exactly one of these three: a file beside this one, an address, or the id or key of a saved component. */
    file: Type.Optional(Text(4096)),
    url: Type.Optional(Text(2048)),
    component: Type.Optional(Text(256)),
    props: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    active: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type DeclaredSource = Static<typeof DeclaredSource>;

const DeclaredWebhook = Type.Object(
  {
    url: Text(2048),
    description: Type.Optional(Text(1024)),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    max_in_flight: Type.Optional(Type.Integer()),
    rate_limit_per_second: Type.Optional(Type.Integer()),
    ordered: Type.Optional(Type.Boolean()),
    active: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type DeclaredWebhook = Static<typeof DeclaredWebhook>;

const DeclaredSubscription = Type.Object(
  {
    /** A source of the file, or an id. */
    from: Text(64),
    /** A webhook or source of the file, or an id. */
    to: Text(64),
    channel: Type.Optional(Type.String({ maxLength: 128 })),
    filter: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  closed,
);
export type DeclaredSubscription = Static<typeof DeclaredSubscription>;

/** The file of `headwater apply` (docs/cli.md). */
export const Declaration = Type.Object(
  {
    project: Type.String({ pattern: NAME }),
    sources: Type.Optional(byName(DeclaredSource)),
    webhooks: Type.Optional(byName(DeclaredWebhook)),
    subscriptions: Type.Optional(Type.Array(DeclaredSubscription, { maxItems: MOST })),
  },
  closed,
);
export type Declaration = Static<typeof Declaration>;
