import { type Static, Type } from "typebox";
import type { Emit } from "../../sandbox/protocol.ts";

const OrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** An event that code emitted, as the API shows it where it is not stored. */
export const EmitSchema = Type.Object({
  event: Type.Unknown(),
  name: Type.String({ description: "Channel; empty for the default channel." }),
  id: Type.Union([Type.String(), Type.Number(), Type.Null()], {
    description: "What `dedupe` would compare.",
  }),
  summary: OrNull("A line for people."),
  ts: Type.Union([Type.Number(), Type.Null()]),
});

export const presentEmit = ({
  event,
  metadata: { name, id, summary, ts },
}: Emit): Static<typeof EmitSchema> => ({
  event,
  name: name ?? "",
  id: id ?? null,
  summary: summary ?? null,
  ts: ts ?? null,
});
