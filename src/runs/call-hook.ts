import type { Source } from "../models/source.ts";
import { propValuesForRun } from "../props/configure.ts";
import type { CallError, ComponentCall, Emit, LogLine } from "../sandbox/protocol.ts";
import { endpointUrl } from "../sources/endpoint.ts";
import { countDrop } from "../store/drops.ts";
import { memoryAfter } from "./batch.ts";
import { dedupe, inOrder } from "./dedupe.ts";
import type { RunDeps } from "./deps.ts";
import { loadCode } from "./load-code.ts";
import type { Memory } from "./record.ts";

export type Hook = Exclude<ComponentCall, "run">;

/** What a source's hooks have done so far, in the order in which they were called. */
export interface HookEffects {
  memory: Memory;
  memoryChanged: boolean;
  emits: Emit[];
  logs: LogLine[];
  deduped: number;
  durationMs: number;
}

export const newHookEffects = (memory: Memory): HookEffects => ({
  memory,
  memoryChanged: false,
  emits: [],
  logs: [],
  deduped: 0,
  durationMs: 0,
});

type HookedSource = Pick<Source, "_id" | "owner_id" | "component_id" | "configured_props" | "endpoint">;

/** Calls a hook, if the component has it, and adds what it did to `effects`. Returns the error it ended with, if any. */
export async function callHook(
  platform: RunDeps,
  source: HookedSource,
  hook: Hook,
  effects: HookEffects,
  options: { signal: AbortSignal; mute?: boolean },
): Promise<CallError | null> {
  const { component, bundle } = await loadCode(platform, source.component_id);
  if (!component.description.hooks.includes(hook)) return null;
  const sandboxes = await platform.sandboxes();
  const values = JSON.parse(platform.secrets.open(source.configured_props));
  const result = await sandboxes.call(
    `${source._id}:${bundle.hash}`,
    bundle,
    {
      call: hook,
      event: null,
      props: propValuesForRun(component.description.props, values, {
        endpointUrl: endpointUrl(platform, source.endpoint),
      }),
      db: effects.memory.db,
    },
    { signal: options.signal, wallMs: platform.config.sandbox.hookMs, owner: source.owner_id },
  );
  options.signal.throwIfAborted();
  const { dedupe: strategy } = component.description;
  const { kept, dropped, memory } = dedupe(strategy, effects.memory.dedupe, inOrder(result.emits));
  const changed = memoryAfter(effects.memory, result.db, memory, strategy !== undefined);
  if (changed) {
    effects.memory = changed;
    effects.memoryChanged = true;
  }
  if (options.mute) await countDrop(platform, source._id, "deploy-muted", kept.length);
  else effects.emits.push(...kept);
  effects.logs.push(...result.logs);
  effects.deduped += dropped;
  effects.durationMs += result.durationMs;
  return result.error ?? null;
}
