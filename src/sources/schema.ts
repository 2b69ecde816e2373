import { type Static, type TSchema, Type } from "typebox";
import { ShownOrgId } from "../accounts/access.ts";
import { CODE_FIELDS, ConfigurableProp, OwnWords } from "../components/schema.ts";
import { OrNull } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { SecretsRemoved } from "../props/configure.ts";
import { shownLastTimes } from "../store/last-times.ts";
import { SortParam } from "../store/order.ts";
import { Revision } from "../store/revisions.ts";
import { TextFilter } from "../store/text-filter.ts";
import { ShownVerify, VerifySettings } from "../verify/schema.ts";

/** Describes an object, and is true of any other value too: a component may use the name for a prop of another kind. */
const UsuallyObject = (properties: Record<string, TSchema>, description: string) =>
  Type.Optional(Type.Unsafe<unknown>({ properties, description }));

const NULLABLE = (type: string) => ({ type: [type, "null"] }) as unknown as TSchema;

/** The values of a source's props; the two that most components have are described under their usual names. */
const ShownProps = Type.Object(
  {
    http: UsuallyObject(
      { endpoint_url: Type.String() },
      "An HTTP interface: requests to `endpoint_url` run the source.",
    ),
    timer: UsuallyObject(
      { cron: NULLABLE("string"), interval_seconds: NULLABLE("integer"), timezone: Type.String() },
      "A timer: either `cron` or `interval_seconds` is null.",
    ),
  },
  {
    additionalProperties: true,
    description:
      "Values by prop name, without secrets, and for viewers without `endpoint_url`. A timer is `{cron, interval_seconds}`, an HTTP interface " +
      "`{endpoint_url}`, an apphook `{endpoint_url, event_names}`, whatever the name of the prop.",
  },
);

/** What selects sources of a list, and in which order. */
export const SourceFilter = Type.Object({
  sort: SortParam,
  q: TextFilter(
    "their name, name slug or id, or the one with this address of its endpoint (whole, or its last part)",
  ),
  active: Type.Optional(
    Type.Boolean({ description: "Only those that are active, or only those that are not." }),
  ),
});
export type SourceFilter = Static<typeof SourceFilter>;

/** How requests for a source are verified, without the secrets. */
const ShownSourceVerify = Type.Object(
  {
    by: Type.Union([Type.Literal("author"), Type.Literal("owner")], {
      description: "Who chose the rule: the component's author, or the source's owner.",
    }),
    ...ShownVerify.properties,
    secrets_given: Type.Integer({
      description:
        "How many of them are of `verify.secrets`, and neither of a prop that the component's author names nor of a hook.",
    }),
  },
  { title: "SourceVerify" },
);

/** A source as the API shows it in lists (docs/rest-api.md#source). */
export const SourceSchema = Type.Object(
  {
    id: Type.String(),
    user_id: Type.String(),
    org_id: ShownOrgId,
    component_id: Type.String(),
    ...OwnWords,
    configured_props: ShownProps,
    dynamic_props_id: Type.Union([Type.String(), Type.Null()], {
      description:
        "Id of the props that its `additionalProps` made for it; null if the component's own are all.",
    }),
    verify: OrNull(
      ShownSourceVerify,
      "How requests for its HTTP interface are verified; null: anybody may send.",
    ),
    active: Type.Boolean(),
    created_at: Type.Integer(),
    updated_at: Type.Integer(),
    name: Type.String(),
    name_slug: Type.String(),
    ...shownLastTimes("it last emitted an event", "a run last succeeded", "a run last failed"),
    revision: Revision,
  },
  { title: "Source" },
);

/** A source after an update. */
export const UpdatedSourceSchema = Type.Object(
  { ...SourceSchema.properties, secrets_removed: SecretsRemoved },
  { title: "UpdatedSource" },
);

/** A source with the number of events that it dropped (docs/design.md#guarantee-8), and what only a form needs. */
export const SourceDetailSchema = Type.Object(
  {
    ...SourceSchema.properties,
    dropped: Type.Record(Type.String(), Type.Integer(), {
      description: "Number of events dropped on purpose, by reason.",
    }),
    dynamic_props: Type.Array(ConfigurableProp, {
      description: "The props that its `additionalProps` added to the component's own, or changed.",
    }),
    secrets_set: Type.Array(Type.String(), {
      description:
        "Names of the props that have a secret or credentials stored. Their values are never shown.",
    }),
    deactivating: Type.Boolean({
      description:
        "True for a disabled source whose deactivate hook is still to be called, after the run that is in progress.",
    }),
    next_tick_at_ms: Type.Union([Type.Integer(), Type.Null()], {
      description:
        "When its timer is due next; Unix milliseconds. Null without a timer, and while it is off.",
    }),
  },
  { title: "SourceDetail" },
);

/** Body of `POST /sources`; one of the fields that name the component is required. */
export const NewSource = Type.Object({
  component_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Id of one of your components, or of a published one.",
    }),
  ),
  ...CODE_FIELDS,
  key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "Key of one of your components, or of a published one.",
    }),
  ),
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: "Default: the name slug of the component." }),
  ),
  configured_props: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "Values by prop name. A timer is `{intervalSeconds}` or `{cron, timezone?}`.",
    }),
  ),
  dynamic_props_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        "From `POST /components/{id}/props`. Without it, `additionalProps` is called with the configured props.",
    }),
  ),
  comment: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LIMITS.versionCommentCharacters.value,
      description: "What the version of the code says of itself in the list of versions.",
    }),
  ),
  verify: Type.Optional(VerifySettings),
  emit_on_deploy: Type.Optional(
    Type.Boolean({
      description: "False: the events of the deploy hook are dropped, and counted as dropped. Default: true.",
    }),
  ),
});

/** Body of `PUT /sources/{id}`. */
export const SourceUpdate = Type.Object({
  component_id: NewSource.properties.component_id,
  ...CODE_FIELDS,
  key: NewSource.properties.key,
  name: NewSource.properties.name,
  configured_props: NewSource.properties.configured_props,
  dynamic_props_id: NewSource.properties.dynamic_props_id,
  comment: NewSource.properties.comment,
  verify: Type.Optional(OrNull(VerifySettings, "Null: what the owner has said ends.")),
  active: Type.Optional(Type.Boolean({ description: "Whether the source runs. Default: true." })),
});
