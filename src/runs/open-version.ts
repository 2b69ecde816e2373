import { countRuns } from "../accounts/usage.ts";
import { loadCode } from "../components/stored-bundle.ts";
import { connectProps } from "../connections/connect-props.ts";
import { callErrorOf } from "../connections/look-up.ts";
import { noteUse, type UsedToken } from "../connections/note-use.ts";
import type { PrivateAddress } from "../egress/private-addresses.ts";
import type { Component } from "../models/component.ts";
import type { Source } from "../models/source.ts";
import type { Calling } from "../platform.ts";
import { propValuesForRun } from "../props/configure.ts";
import { boundProp } from "../props/dynamic-props.ts";
import type { TriggerItem } from "../queues/run-item.ts";
import type { Bundle } from "../sandbox/bundle.ts";
import type { CallError, CallRequest, CallResult, HttpResponse } from "../sandbox/protocol.ts";
import { propsOfSource, sourceFacts } from "../sources/source.ts";
import { hookSecretFault } from "../sources/verify.ts";
import type { TraceContext } from "../tracing/trace-context.ts";
import type { SourceVersion } from "./hooks.ts";
import type { Memory } from "./memory.ts";
import { outcomeLabel } from "./record-batch.ts";
import type { RunDeps } from "./run.ts";

/** The result of a hook that was not called. */
const NOT_CALLED = { emits: [], logs: [], durationMs: 0, cpuMs: 0, memoryBytes: 0 };

/** Returns the props of a call that begins with no look-up of its source, or why it can't have them. */
export async function boundOrFailed(
  platform: Parameters<typeof boundProps>[0],
  source: Parameters<typeof boundProps>[1],
  component: Parameters<typeof boundProps>[2],
  signal: AbortSignal,
): Promise<BoundProps | { error: CallError }> {
  // Hooks come with no look-up of their source that would have done it.
  await platform.routing.refresh();
  try {
    return await boundProps(platform, source, component, signal);
  } catch (error) {
    return { error: callErrorOf(error) };
  }
}

/**
 * Opens a version of a source, so that its hooks can be called in the sandbox. `signal` cancels them; `execute` then
 * throws its reason. The spans of its hooks are below `parent`. Throws `not-found` if the component no longer exists.
 */
export async function openVersion(
  platform: RunDeps,
  source: Pick<
    Source,
    | "_id"
    | "owner_id"
    | "component_id"
    | "configured_props"
    | "dynamic_props"
    | "endpoint"
    | "timer"
    | "verify"
  >,
  signal: AbortSignal,
  parent?: TraceContext,
): Promise<SourceVersion> {
  const { component, bundle } = await loadCode(platform, source.component_id);
  return {
    description: component.description,
    async execute(hook, db) {
      const span = platform.tracer.start("hook", parent, platform.clock());
      const sandboxes = await platform.sandboxes();
      const bound = await boundOrFailed(platform, source, component, signal);
      if ("error" in bound) return { ...NOT_CALLED, error: bound.error };
      const { tokens, opened, ...values } = bound;
      const request = { call: hook, event: null, ...values, db };
      const options = {
        signal,
        wallMs: platform.config.sandbox.hookMs,
        owner: source.owner_id,
        isShareable: mayShareProcess(source),
        opened,
      };
      const called = await sandboxes.call(processKey(source, bundle), bundle, request, options);
      const result = withCheckedSecret(platform, source, called);
      // A hook uses a sandbox as a run does, and counts as one (docs/design.md#quotas).
      await countRuns(platform, source.owner_id, 1, result.durationMs).catch(() => undefined);
      await noteUse(platform, { tokens, by: source._id }, result);
      signal.throwIfAborted();
      const attributes = { "headwater.hook": hook, "headwater.source_id": source._id };
      span?.end(attributes, platform.clock(), result.error && outcomeLabel(result.error.code));
      return result;
    },
  };
}

/** A secret that can't verify would reject everything: then the hook has failed. */
function withCheckedSecret(
  platform: RunDeps,
  source: Pick<Source, "verify">,
  { secret, ...result }: CallResult,
): CallResult {
  if (secret === undefined) return result;
  const error = result.error ?? hookSecretFault(platform, source, secret);
  return error ? { ...result, error } : { ...result, secret };
}

/** What the sandbox puts on `this`: values by the name of their prop, and the props that are not in the code. */
interface BoundProps extends Pick<CallRequest, "props" | "added"> {
  /** The tokens among the values. */
  tokens: UsedToken[];
  /** What the sandbox lets the code reach beside public addresses. */
  opened: PrivateAddress[];
}

/**
 * Decrypts a source's props and returns what the sandbox puts on `this`, with the credentials of its connections. Throws as
 * `connectProps` does.
 */
async function boundProps(
  platform: Calling,
  source: Pick<Source, "owner_id" | "configured_props" | "dynamic_props" | "endpoint">,
  component: Pick<Component, "description" | "adds_slash">,
  signal: AbortSignal,
): Promise<BoundProps> {
  const { props, dynamic } = propsOfSource(platform, component, source);
  const stored = JSON.parse(platform.secrets.open(source.configured_props));
  const described = { props, values: stored };
  const { values, tokens, opened } = await connectProps(platform, source.owner_id, described, signal);
  const bound = propValuesForRun(props, values, sourceFacts(platform, source.endpoint, component));
  return { props: bound, added: dynamic?.props.map(boundProp), tokens, opened };
}

/**
 * True if a source's runs may use a process in turn with those of other sources that have the same owner and the same code:
 * it has a timer, and neither an endpoint to which strangers send nor an app's events (docs/decisions/0023-timers-share-processes.md).
 */
export const mayShareProcess = ({
  timer,
  endpoint,
  app_events,
}: Pick<Source, "timer" | "endpoint" | "app_events">): boolean =>
  timer !== null && endpoint === null && !app_events;

/** Calls with the same key may share a sandbox process: one source with one bundle. */
const processKey = (source: Pick<Source, "_id">, bundle: Bundle): string => `${source._id}:${bundle.hash}`;

export type Executor = Awaited<ReturnType<typeof openExecutor>>;

export interface Execution {
  /** No run starts later than this many milliseconds after the first. */
  forMs: number;
  onRespond: (item: TriggerItem, response: HttpResponse) => void;
  /** Called as soon as a run has ended; never for a cancelled run. */
  onResult: (item: TriggerItem, result: CallResult) => void;
}

/**
 * Loads a source's code and decrypts its props, once for a batch of runs. `signal` cancels the runs. Throws
 * `not-found` if the component no longer exists, and ConnectionFailed if a connection gives no credentials.
 */
export async function openExecutor(platform: RunDeps, source: Source, signal: AbortSignal) {
  const { component, bundle } = await loadCode(platform, source.component_id);
  const { tokens, opened, ...bound } = await boundProps(platform, source, component, signal);
  const sandboxes = await platform.sandboxes();
  return {
    settings: component.description,
    /**
     * Runs the first item, and the next ones while there is time, each with the `db` that the one before it left.
     * Throws the reason of `signal` if it aborts. Returns false if it must be opened again, because an app rejected a token.
     */
    async execute(items: TriggerItem[], db: Memory["db"], execution: Execution): Promise<boolean> {
      const { forMs, onRespond, onResult } = execution;
      let last: Pick<CallResult, "error" | "unauthorized"> = {};
      await sandboxes.callBatch(
        processKey(source, bundle),
        bundle,
        {
          ...{ call: "run", ...bound, db, events: items.map(item => item.event) },
          ...(tokens.length > 0 && { stopsUnauthorized: true }),
        },
        {
          signal,
          owner: source.owner_id,
          isShareable: mayShareProcess(source),
          opened,
          startWithinMs: forMs,
          onRespond: (index, response) => onRespond(items[index] as TriggerItem, response),
          onResult: (index, result) => {
            last = result;
            if (!signal.aborted) onResult(items[index] as TriggerItem, result);
          },
        },
      );
      signal.throwIfAborted();
      await noteUse(platform, { tokens, by: source._id }, last);
      return !last.unauthorized || tokens.length === 0;
    },
  };
}
