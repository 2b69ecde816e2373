import { loadCode } from "../components/stored-bundle.ts";
import { noteUse } from "../connections/note-use.ts";
import type { Source } from "../models/source.ts";
import type { TriggerItem } from "../queues/run-item.ts";
import type { CallResult, HttpResponse } from "../sandbox/protocol.ts";
import type { RunDeps } from "./deps.ts";
import type { Memory } from "./memory.ts";
import { boundProps, mayShareProcess, processKey } from "./open-version.ts";

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
  const { tokens, ...bound } = await boundProps(platform, source, component, signal);
  const sandboxes = await platform.sandboxes();
  return {
    strategy: component.description.dedupe,
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
