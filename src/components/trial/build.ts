import { checkQuota } from "../../accounts/quota.ts";
import { countRuns } from "../../accounts/usage.ts";
import { tryConnectProps } from "../../connections/connect-props.ts";
import { noteUse, type Use } from "../../connections/note-use.ts";
import { Slots } from "../../fairness/slots.ts";
import { newToken } from "../../lib/ids.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Calling } from "../../platform.ts";
import type { StoredProps } from "../../props/configure.ts";
import type { Bundle } from "../../sandbox/bundle.ts";
import type { CallOptions } from "../../sandbox/call-runner.ts";
import type { CallError, CallRequest, CallResult, DescribedProp, LogLine } from "../../sandbox/protocol.ts";
import { withBuilt } from "../builder/with-built.ts";
import { type DescribedComponent, describeComponent } from "../describe.ts";
import type { ModuleLoader } from "../load-modules.ts";

/** Code that is described or tried now. None waits here: what is heavy about it waits for slots of its own. */
const trials = new Slots({
  total: LIMITS.trials.value,
  perAccount: LIMITS.trialsPerAccount.value,
  waitingPerAccount: 0,
  waiting: 0,
  what: "components are being tried",
});

/** Does `work` in one of the account's slots. Throws `rate-limited`, or `unavailable`, if there is none. */
export const inTrial = <T>(ownerId: string, work: () => Promise<T>): Promise<T> => trials.run(ownerId, work);

export interface TrialBuild {
  bundle: Bundle;
  description: DescribedComponent;
  /** Pinned versions by the text of the import. */
  packages: Record<string, string>;
}

/**
 * Bundles and describes code as `saveComponent` does, and stores nothing; the bundle exists until `use` has ended. Its compute
 * time counts against the account's quota. Throws `invalid` for code that can't be saved, `rate-limited` and `unavailable`.
 */
export async function withTrialBuild<T>(
  platform: Calling,
  ownerId: string,
  loader: ModuleLoader,
  use: (built: TrialBuild) => Promise<T>,
): Promise<T> {
  await checkQuota(platform, ownerId);
  const options = { ...platform.config, account: ownerId };
  const used = await withBuilt(loader, options, async ({ bundle, packages }) => {
    const description = await describeComponent(await platform.sandboxes(), bundle, {
      owner: ownerId,
      onEnded: ms => void countRuns(platform, ownerId, 0, ms).catch(() => undefined),
    });
    return { result: await use({ bundle, description, packages }) };
  });
  // Without `goesOn` there is always a result.
  return (used as { result: T }).result;
}

/**
 * Calls a component once in a process of its own, which no source shares and which ends with the call. It counts as a run
 * of the account. `use` are the tokens among the props. Throws `unavailable` if no process can be started.
 */
export async function callOnce(
  platform: Calling,
  ownerId: string,
  bundle: Bundle,
  request: CallRequest,
  { use, ...options }: Pick<CallOptions, "wallMs" | "onRespond" | "opened"> & { use: Use },
): Promise<CallResult> {
  const sandboxes = await platform.sandboxes();
  const key = `once-${newToken()}`;
  try {
    const result = await sandboxes.call(key, bundle, request, { ...options, owner: ownerId });
    await countRuns(platform, ownerId, 1, result.durationMs).catch(() => undefined);
    await noteUse(platform, use, result);
    return result;
  } finally {
    sandboxes.drop(key);
  }
}

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
  platform: Calling,
  ownerId: string,
  { bundle, props, values, requestWith, wallMs }: Question,
): Promise<Returned> {
  await checkQuota(platform, ownerId);
  const connected = await tryConnectProps(platform, ownerId, { props, values });
  if ("error" in connected) return { value: undefined, logs: [], error: connected.error };
  const request = requestWith(connected.values);
  const use = { tokens: connected.tokens, by: `${request.call} of code ${bundle.hash.slice(0, 12)}` };
  const { emits, logs, error } = await callOnce(platform, ownerId, bundle, request, {
    ...{ wallMs, use },
    opened: connected.opened,
  });
  // The code may emit on its own; what it returned comes last.
  return error ? { value: undefined, logs, error } : { value: emits.at(-1)?.event, logs, error: null };
}
