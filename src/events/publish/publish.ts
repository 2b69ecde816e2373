import { newId } from "../../lib/ids.ts";
import type { Emission } from "../../queues/emissions.ts";
import type { Emitter } from "../../subscriptions/match.ts";
import { inSpan } from "../../tracing/in-span.ts";
import type { TraceContext } from "../../tracing/trace-context.ts";
import { type PublisherDeps, publisherOf } from "./publisher.ts";
import { readEvents } from "./read-events.ts";
import type { NewEvent, PublishBody, Published } from "./schema.ts";

/**
 * Emits the events of a request as an emitter (docs/rest-api.md#publish). Resolves once Redis holds them, with their emit
 * ids: those that the caller gave, otherwise new ones. `text` is the body as it was sent. Throws `invalid` that names the
 * field, and what `Publisher.publish` throws; then nothing was accepted. `inbound` is the trace that the request goes on
 * with. All of its events are in one trace, which is returned beside them.
 */
export async function publishEvents(
  platform: PublisherDeps,
  emitter: Emitter,
  body: PublishBody,
  text: string,
  inbound?: TraceContext,
): Promise<{ published: Published; trace: TraceContext | undefined }> {
  const { events, sizes } = readEvents(body, text);
  const nowMs = platform.clock();
  const span = platform.tracer.enter("ingress", nowMs, { inbound });
  const trace = span?.context ?? inbound;
  const emissions = events.map(event => ({
    ...emissionOf(event, emitter.id, nowMs),
    ...(trace !== undefined && { trace }),
  }));
  const attributes = {
    "headwater.trigger": "publish",
    "headwater.emitter_id": emitter.id,
    "headwater.emitted": events.length,
  };
  await inSpan(platform, span, attributes, () =>
    publisherOf(platform).publish({ emitter, emissions, bytes: text.length, sizes }),
  );
  return { published: { emit_ids: emissions.map(({ emit_id }) => emit_id) }, trace };
}

function emissionOf({ event, name, id, ts }: NewEvent, emitterId: string, nowMs: number): Emission {
  return {
    emitter_id: emitterId,
    emit_id: id ?? newId("emit", nowMs),
    ...(name !== undefined && { name }),
    event,
    ...(ts !== undefined && { ts }),
    ...(id !== undefined && { requested_at_ms: nowMs }),
  };
}
