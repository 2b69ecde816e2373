import { checkQuota } from "../../accounts/check-quota.ts";
import { tryConnectProps } from "../../connections/connect-props.ts";
import type { StoredProps } from "../../props/configure.ts";
import type { Bundle } from "../../sandbox/bundle.ts";
import type { CallError, CallRequest, DescribedProp, LogLine } from "../../sandbox/protocol.ts";
import type { TrialDeps } from "./build.ts";
import { callOnce } from "./call-once.ts";

/** What a component's code is asked beside its runs: for choices, for further props, for names of events. */
interface Question {
  bundle: Bundle;
  props: DescribedProp[];
  values: StoredProps;
  /** Returns the call with these values, in which connections have their credentials. */
  requestWith: (values: StoredProps) => CallRequest;
  wallMs: number;
}

/** What the code returned. */
export interface Returned {
  /** Undefined if it failed. */
  value: unknown;
  logs: LogLine[];
  /** What the code threw, or why a connection gave no credentials. */
  error: CallError | null;
}

/**
 * Asks a component's code something, in a sandbox of its own and without any memory. It counts as a run of the account. Called in
 * one of the account's trials (`inTrial`). Throws `rate-limited` and `unavailable`.
 */
export async function askCode(
  platform: TrialDeps,
  ownerId: string,
  { bundle, props, values, requestWith, wallMs }: Question,
): Promise<Returned> {
  await checkQuota(platform, ownerId);
  const connected = await tryConnectProps(platform, ownerId, { props, values });
  if ("error" in connected) return { value: undefined, logs: [], error: connected.error };
  const request = requestWith(connected.values);
  const use = { tokens: connected.tokens, by: `${request.call} of code ${bundle.hash.slice(0, 12)}` };
  const { emits, logs, error } = await callOnce(platform, ownerId, bundle, request, { wallMs, use });
  // The code may emit on its own; what it returned comes last.
  return error ? { value: undefined, logs, error } : { value: emits.at(-1)?.event, logs, error: null };
}
