import { Type } from "typebox";
import { OptionsSchema } from "../../components/configure/schema.ts";
import { EmitSchema, presentEmit } from "../../components/present.ts";
import { requestState } from "../../http/request-log.ts";
import { accepted, data, routeFor } from "../../http/route.ts";
import type { Calling, Working } from "../../platform.ts";
import { ownSourceToChange } from "../../sources/routes.ts";
import { inboundTrace } from "../../tracing/inbound.ts";
import { runSource, sampleSource } from "./run-source.ts";

const route = routeFor<Working & Calling>();
const tag = "Sources";
const params = { id: "dc_0CjB9uPc7RfT1xLs" };

const Sample = Type.Object(
  {
    events: Type.Array(EmitSchema),
    emit_ids: Type.Array(Type.String(), {
      description: "Those of the events; empty unless they were emitted.",
    }),
    logs: OptionsSchema.properties.logs,
    error: OptionsSchema.properties.error,
  },
  { title: "Sample" },
);

/** What a person starts on a deployed source. */
export const byHandRoutes = [
  route({
    method: "POST",
    path: "/sources/{id}/run",
    id: "runSource",
    audit: "source.run_started",
    tag,
    summary: "Run a source now",
    description:
      "The run joins the source's series, as that of a timer's tick. 409 for a source that is not active.",
    access: ownSourceToChange,
    body: Type.Object({
      event: Type.Optional(
        Type.Unknown({
          description:
            "What `run` receives; by default the timer's event, as if it were due now. Required without a timer.",
        }),
      ),
    }),
    response: accepted(202, Type.Object({ run_id: Type.String() })),
    errors: ["conflict", "unavailable"],
    example: { params, body: { event: { hello: "world" } }, response: { run_id: "run_0CjBAKw4Yz8MvQ2t" } },
    handler: async ({ deps, resource, body, ctx }) => {
      const runId = await runSource(deps, resource, body.event, inboundTrace(deps, ctx.headers));
      requestState(ctx).ids = { source_id: resource._id, run_id: runId };
      return { run_id: runId };
    },
  }),
  route({
    method: "POST",
    path: "/sources/{id}/sample",
    id: "sampleSource",
    audit: "source.sample_emitted",
    tag,
    summary: "Get a source's sample event",
    description:
      "Calls the component's `sampleEmit` with the source's props, in a sandbox and without the source's memory. Nothing is " +
      "stored, unless `emit` is true: then its events are emitted as the source's.",
    access: ownSourceToChange,
    body: Type.Object({
      emit: Type.Optional(Type.Boolean({ description: "True: the events are emitted. Default: false." })),
    }),
    response: data(200, Sample),
    errors: ["conflict", "unavailable"],
    example: {
      params,
      body: { emit: false },
      response: {
        events: [{ event: { hello: "world" }, name: "", id: null, summary: null, ts: null }],
        emit_ids: [],
        logs: [],
        error: null,
      },
    },
    handler: async ({ deps, resource, body, changes }) => {
      if (!body.emit) changes(null);
      const { emits, emitIds, logs, error } = await sampleSource(deps, resource, {
        isEmitted: body.emit ?? false,
      });
      return { events: emits.map(presentEmit), emit_ids: emitIds, logs, error };
    },
  }),
];
