import { hash } from "node:crypto";
import { AppError, invalidField } from "../../lib/errors.ts";
import { type Hops, hopsField } from "../../lib/hops.ts";
import { newId } from "../../lib/ids.ts";
import { type JsonText, parseAround } from "../../lib/json-text.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Working } from "../../platform.ts";
import type { Emission } from "../../queues/emissions.ts";
import type { Emitter } from "../../subscriptions/match.ts";
import { inSpan } from "../../tracing/in-span.ts";
import type { TraceContext } from "../../tracing/trace-context.ts";
import { publisherOf } from "./publisher.ts";
import type { NewEvent, PublishBody, Published } from "./schema.ts";

/** A request to publish; `hops`: how many listeners led to it. */
export interface PublishRequest extends Hops {
  body: PublishBody;
  /** The body as it was sent. */
  text: string;
  /** What a repetition of the request has in common with it: its caller and its `Idempotency-Key`; absent without one. */
  repeatedAs?: string | undefined;
  /** The trace that the request goes on with. */
  inbound?: TraceContext | undefined;
}

/**
 * Emits the events of a request as an emitter (docs/rest-api.md#publish). Resolves once Redis holds them, and what else the
 * settings ask for (docs/decisions/0036-loss-at-failover.md), with their emit ids: those that the caller gave, otherwise new
 * ones. Throws `invalid` that names the field, and what `Publisher.publish` throws. All of its events are in one trace,
 * which is returned beside them.
 */
export async function publishEvents(
  platform: Working,
  emitter: Emitter,
  { body, text, repeatedAs, inbound, hops }: PublishRequest,
): Promise<{ published: Published; trace: TraceContext | undefined }> {
  const events = readEvents(body, text);
  const nowMs = platform.clock();
  const mayRepeat = platform.config.acceptReplicas > 0 || platform.config.durableIngress;
  const idOf = mayRepeat && repeatedAs !== undefined ? derivedIds(repeatedAs) : undefined;
  const span = platform.tracer.enter("ingress", nowMs, { inbound });
  const trace = span?.context ?? inbound;
  const emissions = events.map((event, i) => {
    const id = event.id ?? idOf?.(i);
    // With the time of its request it is stored whatever its listeners, and so has one event id for as long as that.
    const isKnownLater = id !== undefined || platform.config.durableIngress;
    return {
      ...emissionOf(event, {
        emitter_id: emitter.id,
        emit_id: id ?? newId("emit", nowMs),
        ...(isKnownLater && { requested_at_ms: nowMs }),
      }),
      ...hopsField({ hops }),
      ...(trace !== undefined && { trace }),
    };
  });
  const attributes = {
    "headwater.trigger": "publish",
    "headwater.emitter_id": emitter.id,
    "headwater.emitted": events.length,
  };
  await inSpan(platform, span, attributes, () =>
    publisherOf(platform).publish({ emitter, emissions, bytes: text.length }),
  );
  return { published: { emit_ids: emissions.map(({ emit_id }) => emit_id) }, trace };
}

/** Emit ids of events without one: the same for a repetition, which may follow a 503 although the events were written. */
function derivedIds(repeatedAs: string): (index: number) => string {
  const digest = hash("sha256", repeatedAs);
  return index => `idem-${digest}-${index}`;
}

const emissionOf = (
  { event, name, ts }: WrittenEvent,
  { emitter_id, emit_id, requested_at_ms }: Pick<Emission, "emitter_id" | "emit_id" | "requested_at_ms">,
): Emission => ({
  emitter_id,
  emit_id,
  ...(name !== undefined && { name }),
  event,
  ...(ts !== undefined && { ts }),
  ...(requested_at_ms !== undefined && { requested_at_ms }),
});

/** An event to be published, as it was written. */
type WrittenEvent = Omit<NewEvent, "event"> & { event: JsonText };

/**
 * Returns the events of a body, which its schema has checked; `text` is the body as it was sent. Throws `invalid`, which
 * names the field, for a body that is neither one event nor a batch, and for an event that is too large.
 */
function readEvents(body: PublishBody, text: string): WrittenEvent[] {
  const { events, ...one } = body;
  const isBatch = events !== undefined;
  for (const field of isBatch ? Object.keys(one) : []) {
    throw invalidField("body", field, "must not be given beside events");
  }
  if (!isBatch && !("event" in one)) throw invalidField("body", "event", "is required, or events");
  const written = parseAround(text, { member: "event", list: "events" });
  const all = isBatch ? (written as { events: WrittenEvent[] }).events : [written as WrittenEvent];
  let parsedBytes = 0;
  for (const [i, { event }] of all.entries()) {
    checkSize(event, isBatch ? `events.${i}.event` : "event");
    parsedBytes += event.shape.parsedBytes;
  }
  if (parsedBytes > LIMITS.publishParsedBytes.value) {
    throw new AppError("invalid", "the body has too many arrays, objects and values for its size");
  }
  return all;
}

function checkSize({ text, shape }: JsonText, path: string): void {
  const most = LIMITS.emitBytes.value;
  if (text.length > most || (text.length > most / 4 && Buffer.byteLength(text) > most)) {
    throw invalidField("body", path, `must have at most ${most} bytes`);
  }
  if (shape.parsedBytes > LIMITS.eventParsedBytes.value) {
    throw invalidField("body", path, "has too many arrays, objects and values for its size");
  }
}
