import { isSampled, type TraceContext, traceIdOf } from "./trace-context.ts";

/** The values of `OTEL_TRACES_SAMPLER`, as OpenTelemetry's specification names them. */
export const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

/** Decides whether a trace that enters here is recorded; `inbound` is its context if it began elsewhere. */
export type Sampler = (traceId: string, inbound: TraceContext | undefined) => boolean;

/** The random digits of a trace id are its last ones: as many as a number holds exactly. */
const DIGITS = 13;

/** Returns a sampler. `ratio`, in 0–1, is the share of traces, chosen by their ids, that the samplers by ratio record. */
export function samplerOf(name: SamplerName, ratio: number): Sampler {
  const [, parent, rule] = /^(parentbased_)?(.*)$/.exec(name) ?? [];
  const share = rule === "always_on" ? 1 : rule === "always_off" ? 0 : ratio;
  const byRatio = (traceId: string) => Number.parseInt(traceId.slice(-DIGITS), 16) / 16 ** DIGITS < share;
  return (traceId, inbound) => {
    if (parent && inbound !== undefined) return isSampled(inbound);
    return byRatio(inbound === undefined ? traceId : traceIdOf(inbound));
  };
}
