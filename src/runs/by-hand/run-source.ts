import { acceptRuns } from "../../accepted/keep.ts";
import { queueBounds } from "../../accounts/limits.ts";
import { checkQuota } from "../../accounts/quota.ts";
import { storedBundle } from "../../components/stored-bundle.ts";
import { callOnce, inTrial } from "../../components/trial/build.ts";
import { publisherOf } from "../../events/publish/publisher.ts";
import { AppError, invalidField } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { jsonTextOf } from "../../lib/json-text.ts";
import { openPer } from "../../lib/lazy.ts";
import { scanJson } from "../../lib/scan-json.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Source } from "../../models/source.ts";
import type { Calling, Working } from "../../platform.ts";
import { fromStoredTimer, timerEvent } from "../../props/timer.ts";
import { runQueueIsFull } from "../../queues/runs.ts";
import type { CallError, Emit, LogLine } from "../../sandbox/protocol.ts";
import { existingComponent } from "../../sources/prepare.ts";
import { type Consume, createKeyRateLimiter } from "../../store/limits/key-rate.ts";
import type { TraceContext } from "../../tracing/trace-context.ts";
import { boundOrFailed } from "../open-version.ts";

const MINUTE_S = 60;
const MOST = LIMITS.runsByHand.value;

/**
 * Queues a run of a source now, in its series of runs, and returns the run's id. `event` is what `run` receives; without one,
 * a timer's moment. Throws `conflict` for a source that is not active, `invalid` for one without a timer that gets no event,
 * `rate-limited` and `unavailable`.
 */
export async function runSource(
  platform: Working,
  source: Source,
  event: unknown,
  inbound: TraceContext | undefined,
): Promise<string> {
  if (!source.active) throw new AppError("conflict", "the source is not active");
  const nowMs = platform.clock();
  const given = event === undefined ? momentOf(source, nowMs) : checkEvent(event);
  await checkRate(platform, source.owner_id);
  await checkQuota(platform, source.owner_id);
  const runId = newId("run", nowMs);
  const span = platform.tracer.enter("ingress", nowMs, { inbound });
  const trace = span?.context ?? inbound;
  const item = {
    kind: "event" as const,
    by_hand: true,
    run_id: runId,
    at_ms: nowMs,
    event: given,
    ...(trace !== undefined && { trace }),
  };
  const bounds = await queueBounds(platform, source.owner_id);
  const [accepted] = await acceptRuns(platform, source._id, [item], bounds);
  span?.end({ "headwater.source_id": source._id, "headwater.run_id": runId }, platform.clock());
  if (!accepted) throw runQueueIsFull();
  return runId;
}

/** Returns what `run` of a timer's source receives now. */
function momentOf({ timer }: Source, nowMs: number): unknown {
  if (timer) return timerEvent(fromStoredTimer(timer), nowMs);
  throw invalidField(
    "body",
    "event",
    "is required: the source has no timer, so its run has no event of its own",
  );
}

/** Returns the event, which must stay within the limits of a request for a source. */
function checkEvent(event: unknown): unknown {
  const json = JSON.stringify(event);
  if (Buffer.byteLength(json) > LIMITS.ingressBodyBytes.value) {
    throw invalidField("body", "event", `must have at most ${LIMITS.ingressBodyBytes.value / 1024} KB`);
  }
  if (scanJson(json).parsedBytes > LIMITS.eventParsedBytes.value) {
    throw invalidField("body", "event", "has too many arrays, objects and values");
  }
  return event;
}

/** Returns what counts the runs of this platform's accounts. */
const limiterOf = openPer((platform: Working): Consume => {
  const keyPrefix = `${platform.keys.rateLimit()}-by-hand`;
  return createKeyRateLimiter(platform.redis, {
    keyPrefix,
    points: MOST,
    durationS: MINUTE_S,
    burst: MOST,
  });
});

async function checkRate(platform: Working, ownerId: string): Promise<void> {
  const { ok, resetMs } = await limiterOf(platform)(ownerId);
  if (ok) return;
  const message = `at most ${MOST} runs a minute can be started by hand`;
  throw new AppError("rate-limited", message, { retryAfterMs: Math.max(1, resetMs) });
}

export interface Sample {
  /** What `sampleEmit` emitted or returned; those beyond what is shown are left out. */
  emits: Emit[];
  /** Ids of the emissions, in the same order; none if nothing was emitted. */
  emitIds: string[];
  logs: LogLine[];
  /** What the component's code threw. */
  error: CallError | null;
}

/**
 * Calls the `sampleEmit` of a source's component with the source's props, in a sandbox of its own and without its memory.
 * With `isEmitted`, its events are emitted as the source's, unless the code threw; else nothing is stored. It counts as a
 * run. Throws `invalid` if the component has none, `rate-limited` and `unavailable`.
 */
export async function sampleSource(
  platform: Working & Calling,
  source: Source,
  { isEmitted }: { isEmitted: boolean },
): Promise<Sample> {
  const component = await existingComponent(platform, source);
  if (!component.description.hasSampleEmit) throw new AppError("invalid", "the component has no sampleEmit");
  if (isEmitted && !source.active) throw new AppError("conflict", "the source is not active");
  const wallMs = Math.min(platform.config.sandbox.runMs, LIMITS.trialMs.value);
  const result = await inTrial(source.owner_id, async () => {
    await checkQuota(platform, source.owner_id);
    const bound = await boundOrFailed(platform, source, component, AbortSignal.timeout(wallMs));
    if ("error" in bound) return { emits: [], logs: [], error: bound.error };
    const { tokens, opened, ...values } = bound;
    const request = { call: "sampleEmit" as const, event: null, ...values, db: {} };
    return await callOnce(platform, source.owner_id, storedBundle(platform, component.bundle_hash), request, {
      wallMs,
      use: { tokens, by: source._id },
      opened,
    });
  });
  const { logs, error = null } = result;
  const emits = fitting(result.emits);
  const emitIds = isEmitted && !error ? await emit(platform, source, emits) : [];
  return { emits, emitIds, logs, error };
}

/** Returns as many of the first events as one response shows. */
function fitting(emits: Emit[]): Emit[] {
  let bytes = 0;
  const end = emits.findIndex((one, index) => {
    bytes += JSON.stringify(one).length;
    return index >= LIMITS.publishBatch.value || bytes > LIMITS.trialShownBytes.value;
  });
  return end < 0 ? emits : emits.slice(0, end);
}

async function emit(
  platform: Working & Calling,
  { _id, owner_id }: Source,
  emits: Emit[],
): Promise<string[]> {
  if (emits.length === 0) return [];
  const nowMs = platform.clock();
  const emissions = emits.map(({ event, metadata: { name, summary, ts } }) => ({
    emitter_id: _id,
    emit_id: newId("emit", nowMs),
    ...(name !== undefined && { name }),
    event: jsonTextOf(event),
    ...(summary !== undefined && { summary }),
    ...(ts !== undefined && { ts }),
    ...(platform.config.durableIngress && { requested_at_ms: nowMs }),
  }));
  const bytes = emissions.reduce((sum, { event }) => sum + event.text.length, 0);
  await publisherOf(platform).publish({ emitter: { id: _id, owner_id }, emissions, bytes });
  return emissions.map(({ emit_id }) => emit_id);
}
