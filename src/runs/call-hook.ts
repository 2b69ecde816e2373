import type { Source } from "../models/source.ts";
import { propValuesForRun } from "../props/configure.ts";
import type { CallError, ComponentCall, Emit, LogLine } from "../sandbox/protocol.ts";
import { endpointUrl } from "../sources/endpoint.ts";
import { countDrop } from "../store/drops.ts";
import { memoryAfter } from "./batch.ts";
import { dedupe, inOrder } from "./dedupe.ts";
import type { RunPlatform } from "./deps.ts";
import { loadCode } from "./load-code.ts";
import type { Memory } from "./record.ts";

/** What a source's hooks did so far, in the order they were called. */
export interface HookTrail {
  memory: Memory;
  memoryChanged: boolean;
  emits: Emit[];
  logs: LogLine[];
  deduped: number;
  durationMs: number;
}

export const newTrail = (memory: Memory): HookTrail => ({
  memory,
  memoryChanged: false,
  emits: [],
  logs: [],
  deduped: 0,
  durationMs: 0,
});

type Hooked = Pick<Source, "_id" | "owner_id" | "component_id" | "configured_props" | "endpoint">;

/** Calls one hook when the component has it, adding what it did to the trail. Answers the error it ended with, if any. */
export async function callHook(
  platform: RunPlatform,
  source: Hooked,
  hook: Exclude<ComponentCall, "run">,
  trail: HookTrail,
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
      db: trail.memory.db,
    },
    { signal: options.signal, wallMs: platform.config.sandbox.hookMs, owner: source.owner_id },
  );
  options.signal.throwIfAborted();
  const { dedupe: strategy } = component.description;
  const { kept, dropped, memory } = dedupe(strategy, trail.memory.dedupe, inOrder(result.emits));
  const changed = memoryAfter(trail.memory, result.db, memory, strategy !== undefined);
  if (changed) {
    trail.memory = changed;
    trail.memoryChanged = true;
  }
  if (options.mute) await countDrop(platform, source._id, "deploy-muted", kept.length);
  else trail.emits.push(...kept);
  trail.logs.push(...result.logs);
  trail.deduped += dropped;
  trail.durationMs += result.durationMs;
  return result.error ?? null;
}
