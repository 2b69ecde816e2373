import type { CallResult } from "../sandbox/protocol.ts";
import { propValuesForRun } from "./configure.ts";
import { endpointUrl } from "./endpoint.ts";
import type { TriggeredItem } from "./line-item.ts";
import { type Code, loadCode } from "./load-code.ts";
import type { Source } from "./model.ts";
import type { Memory } from "./record-run.ts";
import { reply } from "./reply.ts";
import type { RunPlatform } from "./run-platform.ts";

export type Executor = Awaited<ReturnType<typeof openExecutor>>;

/** Calls the source's code: loaded, its secrets opened, once for a batch. */
export async function openExecutor(platform: RunPlatform, source: Source, signal: AbortSignal) {
  const { component, bundle }: Code = await loadCode(platform, source.component_id);
  const sandboxes = await platform.sandboxes();
  const values = JSON.parse(platform.secrets.open(source.configured_props));
  const props = propValuesForRun(component.description.props, values, {
    endpointUrl: endpointUrl(platform, source.endpoint),
  });
  return {
    strategy: component.description.dedupe,
    async call(item: TriggeredItem, memory: Memory): Promise<CallResult> {
      const result = await sandboxes.call(
        `${source._id}:${bundle.hash}`,
        bundle,
        { call: "run", event: item.event, props, db: memory.db },
        {
          signal,
          owner: source.owner_id,
          onRespond: response => void reply(platform, item, { type: "response", response }),
        },
      );
      signal.throwIfAborted();
      return result;
    },
  };
}
