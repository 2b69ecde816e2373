import { isSampled, type TraceContext } from "./trace-context.ts";

/** Decides whether a trace that enters here is recorded; `inbound` is its context if it began elsewhere. */
export type Sampler = (traceId: string, inbound: TraceContext | undefined) => boolean;

/** The random digits of a trace id are its last ones: as many as a number holds exactly. */
const DIGITS = 13;

/**
 * Returns OpenTelemetry's `parentbased_traceidratio`: a trace that began elsewhere is recorded if it is there, and of those that
 * begin here the share `ratio` (0–1), chosen by their ids.
 */
export const samplerOf =
  (ratio: number): Sampler =>
  (traceId, inbound) =>
    inbound === undefined
      ? Number.parseInt(traceId.slice(-DIGITS), 16) / 16 ** DIGITS < ratio
      : isSampled(inbound);
