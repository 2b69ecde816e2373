import { NO_NETWORK } from "../../egress/dial.ts";
import { type Outcome, STEPS } from "./outcome.ts";

/**
 * Where a component stops that is run with made-up accounts and without a network: at its end, at the network, which is as far as it
 * can come, in its own code, at something that the platform lacks, or nowhere within its time. `not_run` needs props.
 */
export const STOPS = ["end", "network", "own_code", "platform", "timeout", "not_run"] as const;
export type Stop = (typeof STOPS)[number];

const NETWORK = new RegExp(
  `${NO_NETWORK}|\\b(?:getaddrinfo|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)\\b`,
);
const TIMEOUT = /\bTimeout: |took more than \d+ s|longer than \d+ ms/;
const PLATFORM =
  /is not with the component|components have no |Headwater does not provide|(?:is|are) not supported|can't be used|can't be resolved|\bEACCES: permission denied|\b(?:Out of Memory|Quota Exceeded|Crashed|Sandbox Lost|NotCapable|NotSupported)\b|not implemented|the server failed|exceeds? |could not be (?:installed|fetched)|has no such file/i;

/** Returns where the component of an outcome stopped. */
export function stopOf(outcome: Outcome): Stop {
  const step = STEPS.map(name => outcome[name]).find(({ result }) => result !== "ok");
  if (step === undefined) return "end";
  if (step.result !== "failed") return "not_run";
  const cause = step.cause ?? "";
  if (NETWORK.test(cause)) return "network";
  if (TIMEOUT.test(cause)) return "timeout";
  return PLATFORM.test(cause) ? "platform" : "own_code";
}

/** Returns how many components stopped where. */
export function countStops(outcomes: readonly Outcome[]): Record<Stop, number> {
  const counts = Object.fromEntries(STOPS.map(stop => [stop, 0])) as Record<Stop, number>;
  for (const outcome of outcomes) counts[stopOf(outcome)] += 1;
  return counts;
}
