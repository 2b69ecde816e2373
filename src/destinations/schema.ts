import { type Static, type TObject, type TOptional, Type } from "typebox";
import type { DestinationKind } from "../models/webhook.ts";
import { SecretsRemoved } from "../props/configure.ts";
import { DeliverySettings, Description, Name, WebhookView } from "../webhooks/schema.ts";
import { KIND_NAMES, KINDS } from "./kinds.ts";

const perKind = (part: "given" | "changes" | "shown") =>
  Object.fromEntries(KIND_NAMES.map(name => [name, Type.Optional(KINDS[name][part])])) as Record<
    DestinationKind,
    TOptional<TObject>
  >;

const { id, url, format, header_names, signing, public_key, ...shared } = WebhookView.properties;

/** A destination as the API shows it (docs/rest-api.md#destination). */
export const DestinationView = Type.Object(
  {
    id: Type.String({
      description: "`ds_…` (`ac_…` of an action); use it as the `listener_id` of subscriptions.",
    }),
    kind: Type.Unsafe<DestinationKind>({
      type: "string",
      enum: KIND_NAMES,
      description: "What its events are handed to; the field of this name has its settings.",
    }),
    url: Type.String({ description: "Where its events go, without user name and password." }),
    ...shared,
    ...perKind("shown"),
  },
  { title: "Destination" },
);
export type DestinationView = Static<typeof DestinationView>;

export const UpdatedDestination = Type.Object(
  { ...DestinationView.properties, secrets_removed: SecretsRemoved },
  { title: "UpdatedDestination" },
);
export type UpdatedDestination = Static<typeof UpdatedDestination>;

export const NewDestinationBody = Type.Object({
  name: Type.Optional(Name),
  description: Type.Optional(Description),
  ...DeliverySettings,
  ...perKind("given"),
});
export type NewDestinationBody = Static<typeof NewDestinationBody>;

/** Fields that are left out stay unchanged; null removes a value. */
export const DestinationChanges = Type.Object({
  name: Type.Optional(Type.Union([Name, Type.Null()])),
  description: Type.Optional(Type.Union([Description, Type.Null()])),
  active: Type.Optional(
    Type.Boolean({ description: "True also clears `disabled_reason` and `failing_since`." }),
  ),
  ...DeliverySettings,
  ...perKind("changes"),
});
export type DestinationChanges = Static<typeof DestinationChanges>;
