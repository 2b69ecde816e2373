import { Type } from "typebox";
import type { JsonText } from "../lib/json-text.ts";
import { patternInWords } from "../lib/schemas.ts";

/** Any JSON value. */
const Json = Type.Unknown();

/** An object with these fields, or its text. */
const EventObject = Type.Unsafe<JsonText | Record<string, unknown>>(
  Type.Object(
    {
      raw_event: Type.Optional(Json),
      original_event: Type.Optional(Json),
      original_context: Type.Optional(Json),
      error: Type.Optional(Json),
      level: Type.Optional(Json),
      message: Type.Optional(Json),
      ts: Type.Optional(Json),
    },
    { additionalProperties: true },
  ),
);

/**
 * An event as lists show it, with the fields of an emitted event, an error or a log line
 * (docs/rest-api.md#event-summary).
 */
export const EventSummarySchema = Type.Object(
  {
    id: Type.String({ description: "`<epoch_milliseconds>-<sequence>`; ids are in the order of emission." }),
    indexed_at_ms: Type.Integer({ description: "Unix milliseconds." }),
    event: EventObject,
    metadata: Type.Object({
      emit_id: Type.String(),
      name: Type.String({
        description: "Channel; empty for the default channel, `$errors` for errors, `$logs` for log lines.",
      }),
      emitter_id: Type.String(),
      summary: Type.Optional(Type.String()),
      ts: Type.Optional(
        Type.Number({ description: "When it happened, as its publisher said; Unix milliseconds." }),
      ),
      truncated: Type.Optional(
        Type.Boolean({
          description: "True: the event was truncated to 1 KB; `expand=event` returns all of it.",
        }),
      ),
    }),
  },
  { title: "EventSummary" },
);

/** The format of event ids (docs/rest-api.md#events). */
export const EVENT_ID = /^[0-9]{1,13}-[0-9]{1,10}$/;

export const EventIdSchema = Type.String({
  pattern: patternInWords(EVENT_ID.source, "must be an event id, such as 1700000000000-0"),
  description: "An event id.",
});

export const ExpandSchema = Type.Optional(
  Type.Literal("event", {
    description: "Return whole events; without it, an event larger than 1 KB is truncated.",
  }),
);

/** One event with the short field names that existing clients read: `e` event, `k` channel, `ts` time. */
export const EventRowSchema = Type.Object(
  {
    id: Type.String(),
    e: Json,
    k: Type.String({ description: "Channel; `emit` for the default channel." }),
    ts: Type.Integer({ description: "Unix milliseconds." }),
    metadata: EventSummarySchema.properties.metadata,
  },
  { title: "EventRow" },
);
