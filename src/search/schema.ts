import { type Static, Type } from "typebox";
import { ShownOrgId } from "../accounts/access.ts";
import { OrNull } from "../lib/schemas.ts";
import { SEARCHED_TEXT } from "../store/text-filter.ts";

const KindOfHit = Type.Union([
  Type.Literal("source"),
  Type.Literal("webhook"),
  Type.Literal("destination"),
  Type.Literal("workflow"),
  Type.Literal("component"),
  Type.Literal("connection"),
  Type.Literal("subscription"),
  Type.Literal("auto_subscription"),
  Type.Literal("delivery"),
  Type.Literal("event"),
  Type.Literal("run"),
  Type.Literal("replay"),
  Type.Literal("api_key"),
]);
export type Kind = Static<typeof KindOfHit>;

/** What can be found, in the order in which equally good hits are shown. */
export const KINDS: readonly Kind[] = KindOfHit.anyOf.map(({ const: kind }) => kind);

export const SearchQuery = Type.Object({
  q: Type.String({
    ...SEARCHED_TEXT,
    description: "An id or its beginning, a part of a name or an address, or words of a payload.",
  }),
});

export const SearchHit = Type.Object(
  {
    kind: KindOfHit,
    id: Type.String(),
    org_id: ShownOrgId,
    name: OrNull(
      Type.String(),
      "Its name; of a subscription and a delivery those of what they connect, of an event that of its emitter, of a run that of " +
        "its source. Null without one.",
    ),
    detail: OrNull(Type.String(), "What else identifies it, such as its address, its channel or its app."),
    state: OrNull(Type.String(), "As the thing itself shows it, or in one word how it fares."),
    why: Type.Union([Type.Literal("id"), Type.Literal("name"), Type.Literal("url"), Type.Literal("text")], {
      description: "What of it has the text; `text`: the payload of its event.",
    }),
    emitter_id: Type.Optional(
      Type.String({ description: "Of an event: with its id, what `GET /events/{id}` takes." }),
    ),
    source_id: Type.Optional(Type.String({ description: "Of a run." })),
    at_ms: OrNull(Type.Integer(), "When it was made or happened, in Unix milliseconds."),
  },
  { title: "SearchHit" },
);
export type SearchHit = Static<typeof SearchHit>;

export const SearchResult = Type.Object(
  {
    hits: Type.Array(SearchHit, {
      description: "Those whose id is meant come first, then those whose name is.",
    }),
    partial: Type.Boolean({ description: "True if a kind took too long, or has more than was read." }),
  },
  { title: "SearchResult" },
);
export type SearchResult = Static<typeof SearchResult>;
