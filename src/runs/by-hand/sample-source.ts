import { checkQuota } from "../../accounts/check-quota.ts";
import { storedBundle } from "../../components/stored-bundle.ts";
import { inTrial, type TrialDeps } from "../../components/trial/build.ts";
import { callOnce } from "../../components/trial/call-once.ts";
import { type PublisherDeps, publisherOf } from "../../events/publish/publisher.ts";
import { AppError } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { jsonTextOf } from "../../lib/json-text.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Source } from "../../models/source.ts";
import type { CallError, Emit, LogLine } from "../../sandbox/protocol.ts";
import { existingComponent } from "../../sources/prepare.ts";
import { boundOrFailed } from "../open-version.ts";

export type SampleDeps = TrialDeps & PublisherDeps;

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
  platform: SampleDeps,
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
    const { tokens, ...values } = bound;
    const request = { call: "sampleEmit" as const, event: null, ...values, db: {} };
    return await callOnce(platform, source.owner_id, storedBundle(platform, component.bundle_hash), request, {
      wallMs,
      use: { tokens, by: source._id },
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

async function emit(platform: SampleDeps, { _id, owner_id }: Source, emits: Emit[]): Promise<string[]> {
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
