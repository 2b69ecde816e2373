import { Type } from "typebox";

/** A JSON value of any kind. */
const Json = Type.Unknown();

/** rest-api.md, section 2: `raw_event` of emitted events; the other fields of errors; those of a log line. */
export const EventSummarySchema = Type.Object(
  {
    id: Type.String({ description: "`<epoch_milliseconds>-<sequence>`; ordered by time." }),
    indexed_at_ms: Type.Integer({ description: "Unix milliseconds." }),
    event: Type.Object(
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
    metadata: Type.Object({
      emit_id: Type.String(),
      name: Type.String({ description: "Channel; empty for the default one, `$errors` for errors." }),
      emitter_id: Type.String(),
      summary: Type.Optional(Type.String()),
      truncated: Type.Optional(
        Type.Literal(true, { description: "Event data was cut to 1 KB; `expand=event` gives all." }),
      ),
    }),
  },
  { title: "EventSummary" },
);

/** Well-formed event ids; their order is that of emission (rest-api.md, section 6). */
export const EVENT_ID = /^[0-9]{1,13}-[0-9]{1,10}$/;

export const EventIdSchema = Type.String({ pattern: EVENT_ID.source, description: "An event id." });

export const ExpandSchema = Type.Optional(
  Type.Literal("event", { description: "Full event data; otherwise data over 1 KB is cut." }),
);

/** One event as existing clients of this kind of API read it: `e` event, `k` channel, `ts` Unix milliseconds. */
export const EventRowSchema = Type.Object(
  {
    id: Type.String(),
    e: Json,
    k: Type.String({ description: "Channel; `emit` for the default one." }),
    ts: Type.Integer({ description: "Unix milliseconds." }),
    metadata: EventSummarySchema.properties.metadata,
  },
  { title: "EventRow" },
);
