import { Ajv } from "ajv";
import { type Static, Type } from "typebox";
import { AppError } from "../lib/errors.ts";

/** What all that waits in a source's line has. */
const common = {
  /** The run's identity: a run given out twice finds its own record. */
  run_id: Type.String(),
  /** Unix milliseconds at which its cause happened. */
  at_ms: Type.Number(),
  /** Name of the process that waits for the answer. */
  reply_to: Type.Optional(Type.String()),
};

const Triggered = Type.Object({
  kind: Type.Union([Type.Literal("http"), Type.Literal("timer"), Type.Literal("event")]),
  ...common,
  /** What `run` is given. */
  event: Type.Unknown(),
  hops: Type.Optional(Type.Integer({ minimum: 0 })),
});

/** The fields of a source that an update may change; secrets in `configured_props` are sealed already. */
const Candidate = Type.Object({
  component_id: Type.String(),
  component_url: Type.Union([Type.String(), Type.Null()]),
  name: Type.String(),
  name_slug: Type.String(),
  configured_props: Type.String(),
  endpoint: Type.Union([Type.String(), Type.Null()]),
  timer: Type.Unknown(),
  active: Type.Boolean(),
});

const Change = Type.Object({
  kind: Type.Literal("change"),
  ...common,
  op: Type.Union([Type.Literal("create"), Type.Literal("update"), Type.Literal("delete")]),
  /** A change that has not begun by then is void: nobody waits for it any more. Unix milliseconds. */
  expires_at_ms: Type.Optional(Type.Number()),
  candidate: Type.Optional(Candidate),
  /** The source's `change_id` that the candidate was made from. */
  prepared_for: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  /** False: what the deploy hook emits is dropped (and counted). */
  emit_on_deploy: Type.Optional(Type.Boolean()),
});

const LineItem = Type.Union([Triggered, Change]);

export type TriggeredItem = Static<typeof Triggered>;
export type ChangeItem = Static<typeof Change>;
export type LineItem = Static<typeof LineItem>;
export type Candidate = Static<typeof Candidate>;

const validate = new Ajv({ strict: false }).compile<LineItem>(LineItem);

/** Checks what stood in the line, which an older version may have put there. Throws `invalid`. */
export function parseLineItem(text: string): LineItem {
  const item: unknown = JSON.parse(text);
  if (!validate(item))
    throw new AppError("invalid", `run in line: ${validate.errors?.[0]?.message ?? "unreadable"}`);
  return item;
}
