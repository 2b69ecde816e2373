/**
 * The order in which hooks are called (docs/component-api.md#hooks), the same for a deployed source and for
 * `headwater dev`. Both commit the effects only after all hooks of a change have succeeded.
 *
 *   create: deploy → activate
 *   update: deactivate (old version) → activate (new version); if that fails: activate (old version) again
 *   delete: deactivate
 */
import type { CallError, CallResult, ComponentDescription, LogLine } from "../sandbox/protocol.ts";
import type { DedupeSettings } from "./dedupe.ts";
import { type CallEffects, effectsOf, type Memory } from "./memory.ts";

export type Hook = ComponentDescription["hooks"][number];

/** One version of a source, that is, its code and the values of its props, as far as its hooks are concerned. */
export interface SourceVersion {
  description: Pick<ComponentDescription, "hooks"> & DedupeSettings;
  /** Executes a hook in the sandbox, with `db` as the state of `this.db`. */
  execute(hook: Hook, db: Memory["db"]): Promise<CallResult>;
}

/** The effects of the hooks called so far, in the order in which they were called. */
export interface HookEffects extends CallEffects {
  isMemoryChanged: boolean;
  /** By what requests are to be verified: null once a source was deactivated; absent if no hook set it or ended it. */
  secret?: string | null;
  logs: LogLine[];
  durationMs: number;
}

export const newHookEffects = (memory: Memory): HookEffects => ({
  emits: [],
  deduped: 0,
  memory,
  isMemoryChanged: false,
  logs: [],
  durationMs: 0,
});

/** Calls a hook, if the component has it, and adds its effects to `effects`. Returns its error, or null. */
export async function callHook(
  version: SourceVersion,
  hook: Hook,
  effects: HookEffects,
): Promise<CallError | null> {
  const { description } = version;
  if (!description.hooks.includes(hook)) return null;
  const result = await version.execute(hook, effects.memory.db);
  const { emits, deduped, memory } = effectsOf(description, effects.memory, result);
  effects.emits.push(...emits);
  effects.deduped += deduped;
  effects.isMemoryChanged ||= memory !== effects.memory;
  effects.memory = memory;
  effects.logs.push(...result.logs);
  effects.durationMs += result.durationMs;
  if (hook === "deactivate") effects.secret = null;
  else if (result.secret !== undefined) effects.secret = result.secret;
  return result.error ?? null;
}

/** Calls the hooks of a new source. Returns the one that failed, after which no other is called, or null. */
export async function callCreateHooks(
  version: SourceVersion,
  effects: HookEffects,
): Promise<{ hook: Hook; error: CallError } | null> {
  for (const hook of ["deploy", "activate"] as const) {
    const error = await callHook(version, hook, effects);
    if (error) return { hook, error };
  }
  return null;
}

export type UpdateHooksResult =
  /** An error of deactivate does not prevent the update. */
  | { error: null; effects: HookEffects; deactivateError: CallError | null }
  /**
   * The new version could not be activated: its effects are discarded, and the old version is active again, unless
   * `restoreError` says why that failed as well.
   */
  | { error: CallError; discarded: HookEffects; restored: HookEffects; restoreError: CallError | null };

/** Calls the hooks of an update. `old` or `next` is null if the source is not active before or after it. */
export async function callUpdateHooks(
  old: SourceVersion | null,
  next: SourceVersion | null,
  memory: Memory,
): Promise<UpdateHooksResult> {
  const effects = newHookEffects(memory);
  const deactivateError = old && (await callHook(old, "deactivate", effects));
  const error = next && (await callHook(next, "activate", effects));
  if (!error) return { error: null, effects, deactivateError };
  const restored = newHookEffects(memory);
  const restoreError = old && (await callHook(old, "activate", restored));
  return { error, discarded: effects, restored, restoreError };
}
