import { type Static, Type } from "typebox";
import { patternInWords, UnixMs } from "../../lib/schemas.ts";
import { LIMITS } from "../../limits/catalogue.ts";

export const PullQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: patternInWords("^[A-Za-z0-9_-]*$", "must be a cursor of an earlier pull"),
      description:
        "A cursor of an earlier pull. Everything up to it is acknowledged, and never returned again. Without it, nothing is " +
        "acknowledged, and the pull begins behind what is.",
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.pageRows.value,
      default: LIMITS.pageRows.value,
      description: "Most events that are returned.",
    }),
  ),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LIMITS.pullWaitMs.value / 1000,
      default: 0,
      description: "Seconds for which the request waits for an event if there is none.",
    }),
  ),
});

const PulledEvent = Type.Object({
  id: Type.String({
    description: "The delivery's id, the `webhook-id` of a webhook: the same if the event is returned again.",
  }),
  event_id: Type.String(),
  emitter_id: Type.String(),
  event_name: Type.String({ description: "Channel; empty for the default channel." }),
  emitted_at_ms: UnixMs("When it got its event id."),
  event: Type.Unknown({ description: "What a webhook would get as its body." }),
  cursor: Type.String({ description: "Acknowledges this event and those before it." }),
});

export const Pulled = Type.Object(
  {
    events: Type.Array(PulledEvent, { description: "In the order in which they were kept." }),
    cursor: Type.String({
      description: "The next pull's `after`, which acknowledges these events; there without events, too.",
    }),
    truncated: Type.Boolean({
      description:
        "True if events that were kept between `after` and `cursor` are gone: too old, deleted by their owner, or of an " +
        "account that is not accessible any more.",
    }),
    has_more: Type.Boolean({ description: "Whether more wait already." }),
  },
  { title: "PulledEvents" },
);
export type Pulled = Static<typeof Pulled>;
