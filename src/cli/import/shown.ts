import { type Static, type TSchema, Type } from "typebox";

/** What any server that speaks the contract may show of a field: it, null, or nothing at all. */
const Shown = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
const Text = Shown(Type.String());
export const Values = Shown(Type.Record(Type.String(), Type.Unknown()));
const Names = Shown(Type.Array(Type.String()));
export const Id = Type.String({ minLength: 1, maxLength: 128 });

export const SourceRow = Type.Object({
  id: Id,
  component_id: Text,
  name: Text,
  name_slug: Text,
  active: Shown(Type.Boolean()),
  configured_props: Values,
  verify: Shown(Type.Object({})),
});

/** Fields of one source that lists don't have. */
export const SourceWhole = Type.Object({ id: Id, secrets_set: Names });
type SourceWhole = Static<typeof SourceWhole>;

export const ComponentRow = Type.Object({
  id: Id,
  code: Text,
  key: Text,
  name: Text,
  configurable_props: Shown(
    Type.Array(
      Type.Object({
        name: Type.String(),
        type: Type.String(),
        app: Text,
        secret: Shown(Type.Boolean()),
        optional: Shown(Type.Boolean()),
      }),
    ),
  ),
});

export const ComponentFiles = Type.Object({
  files: Type.Record(Type.String(), Type.String()),
  entry: Text,
});

/** What everything that has deliveries has alike. */
const receiver = {
  id: Id,
  name: Text,
  description: Text,
  url: Text,
  active: Shown(Type.Boolean()),
  max_in_flight: Shown(Type.Integer()),
  rate_limit_per_second: Shown(Type.Integer()),
  ordered: Shown(Type.Boolean()),
  retry_schedule: Names,
  timeout_seconds: Shown(Type.Integer()),
};
const Receiver = Type.Object(receiver);

export const WebhookRow = Type.Object({ ...receiver, format: Text, header_names: Names });

export const DestinationRow = Type.Object({
  ...receiver,
  kind: Type.String(),
  redis_stream: Values,
  rabbitmq: Values,
  s3: Values,
  pull: Values,
  action: Shown(Type.Object({ component_id: Text, configured_props: Values, secrets_set: Names })),
});

export const SubscriptionRow = Type.Object({
  id: Id,
  emitter_id: Type.String(),
  listener_id: Type.String(),
  event_name: Text,
  filter: Values,
  function: Text,
  function_hash: Text,
});

export const ConnectionRow = Type.Object({
  id: Id,
  app: Type.String(),
  name: Text,
  kind: Text,
  field_names: Names,
});

export const NamedRow = Type.Object({ id: Id, name: Text });

export type ShownSource = Static<typeof SourceRow> & Partial<SourceWhole>;
export type ShownReceiver = Static<typeof Receiver>;
export type ShownWebhook = Static<typeof WebhookRow>;
export type ShownDestination = Static<typeof DestinationRow>;
/** What a source and an action have of a component. */
export type ShownUse = Pick<ShownSource, "component_id" | "configured_props" | "secrets_set">;
export type ShownSubscription = Static<typeof SubscriptionRow>;
export type ShownConnection = Static<typeof ConnectionRow>;
export type ShownProp = NonNullable<Static<typeof ComponentRow>["configurable_props"]>[number];
/** With all of its files, if it has several. */
export type ShownComponent = Static<typeof ComponentRow> & Partial<Static<typeof ComponentFiles>>;
export type NamedRow = Static<typeof NamedRow>;

/** What a server shows of an account; null for a list that it does not have. */
export interface Account {
  /** Of the user, or of the organization. */
  id: string;
  sources: ShownSource[];
  /** By id; null for one that the server does not show. */
  components: Map<string, ShownComponent | null>;
  webhooks: ShownWebhook[] | null;
  subscriptions: ShownSubscription[];
  workflows: NamedRow[] | null;
  destinations: ShownDestination[] | null;
  connections: ShownConnection[] | null;
  autoSubscriptions: NamedRow[] | null;
}
