import type { Agent, Dispatcher } from "undici";

/** An answer as it came; `truncated` when it was longer than wanted, or broke off. */
export interface Exchanged {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  truncated: boolean;
}

export interface Exchange {
  answer: Promise<Exchanged>;
  /** Ends it; an answer that has not begun is then refused with `reason`. */
  stop(reason: Error): void;
}

const ENOUGH = new Error("the rest of the answer is not wanted");

/**
 * Sends a request and reads its answer, of the body `maxBytes` at most. Below undici's `request`, whose streams cost as
 * much as all else about a short answer. A body that breaks off still leaves a status: that is told, not thrown away.
 */
export function exchange(agent: Agent, request: Dispatcher.DispatchOptions, maxBytes: number): Exchange {
  let controller: Dispatcher.DispatchController | undefined;
  let stopped: Error | undefined;
  let refuse: (reason: Error) => void = () => {};
  const answer = new Promise<Exchanged>((done, failed) => {
    refuse = failed;
    const chunks: Buffer[] = [];
    let size = 0;
    let begun: Pick<Exchanged, "status" | "headers"> | undefined;
    const end = (truncated: boolean) => {
      if (begun) done({ ...begun, body: Buffer.concat(chunks), truncated });
    };
    agent.dispatch(request, {
      onRequestStart(given) {
        controller = given;
        if (stopped) given.abort(stopped);
      },
      onResponseStart(_, status, headers) {
        // 1xx are no answer yet.
        if (status >= 200) begun = { status, headers: headers as Exchanged["headers"] };
      },
      onResponseData(given, chunk) {
        chunks.push(chunk.subarray(0, maxBytes - size));
        size += chunk.length;
        if (size <= maxBytes) return;
        end(true);
        given.abort(ENOUGH);
      },
      onResponseEnd: () => end(false),
      onResponseError(_, error) {
        if (begun) end(true);
        else failed(error);
      },
    });
  });
  return {
    answer,
    stop(reason) {
      stopped = reason;
      if (controller) controller.abort(reason);
      else refuse(reason);
    },
  };
}
