import { type Static, Type } from "typebox";

const OrNull = <T extends ReturnType<typeof Type.Number> | ReturnType<typeof Type.Integer>>(
  schema: T,
  description: string,
) => Type.Union([schema, Type.Null()], { description });

export const RunView = Type.Object(
  {
    id: Type.String({ description: "`run_…`; its events' `emit_id` begin with it" }),
    source_id: Type.String(),
    trigger: Type.String({
      description: "`http`, `timer`, `event`, or the change whose hooks ran: `create`, `update`",
    }),
    outcome: Type.String({ description: "`ok`, or the code of the error" }),
    error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()]),
    started_at_ms: OrNull(Type.Integer(), "Unix milliseconds; null where it was not executed"),
    duration_ms: Type.Number(),
    cpu_ms: OrNull(Type.Number(), "Processor time; null where the system does not tell"),
    memory_bytes: OrNull(
      Type.Integer(),
      "Memory of its process at the run's end; null where the system does not tell",
    ),
    emitted: Type.Integer(),
    dropped: Type.Record(Type.String(), Type.Integer(), {
      description: "Events (or the run itself) dropped on purpose, reason to count",
    }),
    finished_at_ms: Type.Integer({ description: "Unix milliseconds" }),
  },
  { title: "Run" },
);
export type RunView = Static<typeof RunView>;

export const RunFilter = Type.Object({
  outcome: Type.Optional(Type.Literal("error", { description: "Only those that failed, whatever the code" })),
});
export type RunFilter = Static<typeof RunFilter>;
