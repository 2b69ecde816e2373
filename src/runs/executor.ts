import type { Source } from "../models/source.ts";
import { propValuesForRun } from "../props/configure.ts";
import type { TriggeredItem } from "../queues/run-item.ts";
import type { CallResult, HttpResponse } from "../sandbox/protocol.ts";
import { endpointUrl } from "../sources/endpoint.ts";
import type { RunPlatform } from "./deps.ts";
import { type Code, loadCode } from "./load-code.ts";
import type { Memory } from "./record.ts";

export type Executor = Awaited<ReturnType<typeof openExecutor>>;

export interface Execution {
  /** No run begins later than this many milliseconds after the first. */
  forMs: number;
  onRespond: (item: TriggeredItem, response: HttpResponse) => void;
  /** As soon as a run has ended; not told of one that is cancelled. */
  onResult: (item: TriggeredItem, result: CallResult) => void;
}

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
    /** Runs the first item, and those after it as long as there is time, each on the db that the one before left. */
    async execute(items: TriggeredItem[], db: Memory["db"], execution: Execution): Promise<void> {
      const { forMs, onRespond, onResult } = execution;
      await sandboxes.calls(
        `${source._id}:${bundle.hash}`,
        bundle,
        { call: "run", props, db, events: items.map(item => item.event) },
        {
          signal,
          owner: source.owner_id,
          forMs,
          onRespond: (index, response) => onRespond(items[index] as TriggeredItem, response),
          onResult: (index, result) => {
            if (!signal.aborted) onResult(items[index] as TriggeredItem, result);
          },
        },
      );
      signal.throwIfAborted();
    },
  };
}
