import type { Source } from "../models/source.ts";
import { propValuesForRun } from "../props/configure.ts";
import type { TriggerItem } from "../queues/run-item.ts";
import type { CallResult, HttpResponse } from "../sandbox/protocol.ts";
import { endpointUrl } from "../sources/endpoint.ts";
import type { RunDeps } from "./deps.ts";
import { type Code, loadCode } from "./load-code.ts";
import type { Memory } from "./record.ts";

export type Executor = Awaited<ReturnType<typeof openExecutor>>;

export interface Execution {
  /** No run starts later than this many milliseconds after the first. */
  forMs: number;
  onRespond: (item: TriggerItem, response: HttpResponse) => void;
  /** Called as soon as a run has ended; not for a cancelled run. */
  onResult: (item: TriggerItem, result: CallResult) => void;
}

/** Loads a source's code and decrypts its props, once for a batch of runs. Throws `not-found` if the code is gone. */
export async function openExecutor(platform: RunDeps, source: Source, signal: AbortSignal) {
  const { component, bundle }: Code = await loadCode(platform, source.component_id);
  const sandboxes = await platform.sandboxes();
  const values = JSON.parse(platform.secrets.open(source.configured_props));
  const props = propValuesForRun(component.description.props, values, {
    endpointUrl: endpointUrl(platform, source.endpoint),
  });
  return {
    strategy: component.description.dedupe,
    /** Runs the first item, and those after it while there is time, each on the `db` that the one before left. */
    async execute(items: TriggerItem[], db: Memory["db"], execution: Execution): Promise<void> {
      const { forMs, onRespond, onResult } = execution;
      await sandboxes.callBatch(
        `${source._id}:${bundle.hash}`,
        bundle,
        { call: "run", props, db, events: items.map(item => item.event) },
        {
          signal,
          owner: source.owner_id,
          startWithinMs: forMs,
          onRespond: (index, response) => onRespond(items[index] as TriggerItem, response),
          onResult: (index, result) => {
            if (!signal.aborted) onResult(items[index] as TriggerItem, result);
          },
        },
      );
      signal.throwIfAborted();
    },
  };
}
