import { type Static, Type } from "typebox";
import { OrNull } from "../lib/schemas.ts";

export const RunView = Type.Object(
  {
    id: Type.String({ description: "`run_…`; the `emit_id` of each of its events starts with it." }),
    source_id: Type.String(),
    source_name: Type.Optional(Type.String({ description: "Name of the source. Absent in `GET /live`." })),
    trigger: Type.String({
      description:
        "`http`, `timer`, `event` or `manual`; for hooks the change that called them: `create`, `update` or `deactivate`.",
    }),
    outcome: Type.String({ description: "`ok`, or the code of the error." }),
    error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()]),
    started_at_ms: OrNull(Type.Integer(), "Unix milliseconds; null if the run was not executed."),
    duration_ms: Type.Number(),
    cpu_ms: OrNull(Type.Number(), "CPU time in milliseconds; null if the system does not report it."),
    memory_bytes: OrNull(
      Type.Integer(),
      "Memory of the process at the end of the run; null if the system does not report it.",
    ),
    emitted: Type.Integer(),
    dropped: Type.Record(Type.String(), Type.Integer(), {
      description: "Number of events dropped on purpose (or the run itself), by reason.",
    }),
    finished_at_ms: Type.Integer({ description: "Unix milliseconds." }),
    trace_id: Type.Union([Type.String(), Type.Null()], { description: "Its trace; null without one." }),
  },
  { title: "Run" },
);
export type RunView = Static<typeof RunView>;

export const RunFilter = Type.Object({
  outcome: Type.Optional(Type.Literal("error", { description: "Only failed runs, whatever the error." })),
});
export type RunFilter = Static<typeof RunFilter>;
