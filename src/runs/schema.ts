import { type Static, Type } from "typebox";
import { ShownOrgId } from "../accounts/access.ts";
import { DeliveryView } from "../deliveries/schema.ts";
import { EventSummarySchema } from "../events/schema.ts";
import { OrNull, UnixMs } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";

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

const first = `the first ${LIMITS.runShown.value}`;

export const RunDetail = Type.Object(
  {
    ...RunView.properties,
    org_id: ShownOrgId,
    queued_at_ms: UnixMs("When it was triggered."),
    events: Type.Array(
      Type.Object({
        ...EventSummarySchema.properties,
        event: Type.Union([EventSummarySchema.properties.event, Type.Null()], {
          description: "Null once its summary is not among the last 100 of its source.",
        }),
      }),
      { description: `What it emitted, as far as it is kept, ${first}; in the order of emission.` },
    ),
    logs: Type.Array(EventSummarySchema, {
      description:
        "What it logged, as far as it is among the last 100 lines of its source; the oldest first.",
    }),
    error_event: Type.Union([EventSummarySchema, Type.Null()], {
      description:
        "Its error, whole, with what the run received as `original_event`; null without one, or once it is not kept.",
    }),
    deliveries: Type.Array(DeliveryView, {
      description: `The deliveries of its events and its error, ${first}.`,
    }),
  },
  { title: "RunDetail" },
);
export type RunDetail = Static<typeof RunDetail>;

export const RunFilter = Type.Object({
  outcome: Type.Optional(Type.Literal("error", { description: "Only failed runs, whatever the error." })),
});
export type RunFilter = Static<typeof RunFilter>;
