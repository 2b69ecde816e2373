import { type Static, Type } from "typebox";
import { patternInWords } from "../../lib/schemas.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { CHANNEL } from "../../queues/emissions.ts";

/**
 * Event ids of runs begin with `run_`, so that no caller can take the one of an event that a component will emit. `.` and
 * `..` can't be the last part of a path.
 */
const CALLER_ID = patternInWords(
  "^(?!run_|\\.{1,2}$)[\\x21-\\x7e]+$",
  "must have only visible ASCII characters, not begin with run_, and not be . or ..",
);

const fields = {
  event: Type.Unknown({ description: "Any JSON value of at most 512 KB." }),
  name: Type.Optional(
    Type.String({
      maxLength: LIMITS.channelCharacters.value,
      pattern: CHANNEL,
      description: "Channel: empty for the default one, a name of yours, `$errors` or `$logs`.",
    }),
  ),
  id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LIMITS.publishedIdCharacters.value,
      pattern: CALLER_ID,
      description: "Identity of the event: the same one again is the same event. Visible ASCII characters.",
    }),
  ),
  ts: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "When it happened, for people: Unix milliseconds. It does not change the order of events.",
    }),
  ),
};

/** An event to be published (docs/rest-api.md#publish). */
export const NewEvent = Type.Object(fields, { title: "NewEvent", additionalProperties: false });
export type NewEvent = Static<typeof NewEvent>;

/** One event, or a batch in `events`. */
export const PublishBody = Type.Object({
  ...fields,
  event: Type.Optional(fields.event),
  events: Type.Optional(
    Type.Array(NewEvent, {
      minItems: 1,
      maxItems: LIMITS.publishBatch.value,
      description: "A batch, instead of the other fields: all of it is accepted, or nothing.",
    }),
  ),
});
export type PublishBody = Static<typeof PublishBody>;

export const Published = Type.Object(
  { emit_ids: Type.Array(Type.String(), { description: "One for each event, in order." }) },
  { title: "Published" },
);
export type Published = Static<typeof Published>;
