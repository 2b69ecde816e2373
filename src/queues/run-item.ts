import { type Static, Type } from "typebox";
import { AppError } from "../lib/errors.ts";
import { scanJson } from "../lib/scan-json.ts";
import { newAjv } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** Fields of everything that waits in a run queue. */
const common = {
  /** The run's identity: a run that is executed again finds its own record. */
  run_id: Type.String(),
  /** Unix milliseconds at which it was triggered. */
  at_ms: Type.Number(),
  /** Name of the process that waits for the reply. */
  reply_to: Type.Optional(Type.String()),
  /** Its place in a trace. */
  trace: Type.Optional(Type.String()),
  /** True if MongoDB has it too, until it is handled. */
  kept: Type.Optional(Type.Boolean()),
};

const Trigger = Type.Object({
  kind: Type.Union([Type.Literal("http"), Type.Literal("timer"), Type.Literal("event")]),
  ...common,
  /** The argument of `run`. */
  event: Type.Unknown(),
  hops: Type.Optional(Type.Integer({ minimum: 0 })),
  /**
   * The owners of the subscription that an event came by and of its emitter, unless both are the source's: access is asked again when
   * the run starts. An older worker does not ask.
   */
  carried: Type.Optional(
    Type.Object({ subscriber: Type.String(), emitter: Type.String(), emitter_id: Type.String() }),
  ),
  /** True if a person started it; an older worker records it as its `kind`. */
  by_hand: Type.Optional(Type.Boolean()),
});

/** The fields of a source that an update may change; `configured_props` is already encrypted. */
const Candidate = Type.Object({
  component_id: Type.String(),
  component_url: Type.Union([Type.String(), Type.Null()]),
  name: Type.String(),
  name_slug: Type.String(),
  configured_props: Type.String(),
  /** Absent in an item of a release before connections. */
  connection_ids: Type.Optional(Type.Array(Type.String())),
  /** Encrypted too; absent in a change of an earlier release. */
  dynamic_props: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  endpoint: Type.Union([Type.String(), Type.Null()]),
  /** Encrypted too; absent in a change of an earlier release. */
  verify: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  /** Absent without an apphook, and in a change of an earlier release. */
  app_events: Type.Optional(
    Type.Union([
      Type.Object({
        connection_id: Type.String(),
        endpoint: Type.String(),
        names: Type.Union([Type.Array(Type.String()), Type.Null()]),
      }),
      Type.Null(),
    ]),
  ),
  timer: Type.Unknown(),
  active: Type.Boolean(),
});

const TextOrNull = Type.Union([Type.String(), Type.Null()]);

/** Where the code of a change is from, as a version keeps it (`src/models/code-history.ts`). */
const Origin = Type.Object({
  user_id: TextOrNull,
  key_id: TextOrNull,
  from: TextOrNull,
  comment: TextOrNull,
  restored_from: Type.Union([Type.Integer(), Type.Null()]),
});

const Change = Type.Object({
  kind: Type.Literal("change"),
  ...common,
  /** `deactivate`, of version 2: calls the hook of a source that was switched off (`begun` in src/models/source.ts). */
  op: Type.Union([
    Type.Literal("create"),
    Type.Literal("update"),
    Type.Literal("delete"),
    Type.Literal("deactivate"),
  ]),
  v: Type.Optional(Type.Integer()),
  /** Unix milliseconds after which the change must not start: its caller no longer waits for it. */
  expires_at_ms: Type.Optional(Type.Number()),
  candidate: Type.Optional(Candidate),
  /** Absent in a change of an earlier release. An older worker keeps no version. */
  origin: Type.Optional(Origin),
  /** The `change_id` of the source that the candidate was made from. */
  prepared_for: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  /** False: events emitted by the deploy hook are dropped (and counted). */
  emit_on_deploy: Type.Optional(Type.Boolean()),
});

const RunItem = Type.Union([Trigger, Change]);

export type TriggerItem = Static<typeof Trigger>;
/** Returns what triggered a run, for its record. */
export const triggerOf = ({ kind, by_hand }: Pick<TriggerItem, "kind" | "by_hand">): string =>
  by_hand ? "manual" : kind;

export type ChangeItem = Static<typeof Change>;
export type RunItem = Static<typeof RunItem>;
export type Candidate = Static<typeof Candidate>;

/** The item itself is a level around its event. */
const MAX_DEPTH = LIMITS.eventDepth.value + 1;

const validate = newAjv({ strict: false }).compile<RunItem>(RunItem);

/** The newest version of items that this release knows; one without `v` is of the first. */
const READS = 2;
const KINDS = new Set<string>(
  [...Trigger.properties.kind.anyOf, Change.properties.kind].map(kind => kind.const),
);

/** Thrown for an item that only a newer release knows: one of its workers will execute it. */
export class NewerRun extends AppError {}

/** Returns what this release does not know of an item, which a newer one wrote; undefined for one that it can handle. */
function whatIsNewer(item: unknown): string | undefined {
  const { kind, v } = (item ?? {}) as { kind?: unknown; v?: unknown };
  if (typeof v === "number" && v > READS) return `version ${v} of queued runs is newer than ${READS}`;
  const isUnknown = typeof kind === "string" && !KINDS.has(kind);
  return isUnknown ? `this release has no queued runs of kind ${kind.slice(0, 40)}` : undefined;
}

/**
 * Parses an item of a run queue, which another release may have written. Throws `invalid` or SyntaxError, and NewerRun for one
 * that only a newer release knows.
 */
export function parseRunItem(text: string): RunItem {
  if (scanJson(text).depth > MAX_DEPTH) throw new AppError("invalid", "queued run: nested too deeply");
  const item: unknown = JSON.parse(text);
  const newer = whatIsNewer(item);
  if (newer !== undefined) throw new NewerRun("unavailable", newer);
  if (!validate(item))
    throw new AppError("invalid", `queued run: ${validate.errors?.[0]?.message ?? "unreadable"}`);
  return item;
}
