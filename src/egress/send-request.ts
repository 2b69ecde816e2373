import type { Agent, Dispatcher } from "undici";

/** A response as it was received. `truncated`: the body was longer than `maxBytes`, or the connection broke. */
export interface RawResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  truncated: boolean;
}

export interface PendingRequest {
  response: Promise<RawResponse>;
  /** Ends the request. If no response has started, `response` rejects with `reason`. */
  abort(reason: Error): void;
}

const BODY_LIMIT_REACHED = new Error("the rest of the response is not needed");

/**
 * Sends a request and reads at most `maxBytes` of the response's body. It uses undici's `dispatch`, because the streams
 * of undici's `request` cost as much as everything else about a short response. If the body breaks off, `response`
 * still resolves: the status is known and worth recording.
 */
export function sendRequest(
  agent: Agent,
  request: Dispatcher.DispatchOptions,
  maxBytes: number,
): PendingRequest {
  let controller: Dispatcher.DispatchController | undefined;
  let abortReason: Error | undefined;
  let rejectResponse: (reason: Error) => void = () => {};
  const response = new Promise<RawResponse>((resolve, reject) => {
    rejectResponse = reject;
    const chunks: Buffer[] = [];
    let size = 0;
    let head: Pick<RawResponse, "status" | "headers"> | undefined;
    const end = (truncated: boolean) => {
      if (head) resolve({ ...head, body: Buffer.concat(chunks), truncated });
    };
    agent.dispatch(request, {
      onRequestStart(started) {
        controller = started;
        if (abortReason) started.abort(abortReason);
      },
      onResponseStart(_, status, headers) {
        // A 1xx status is not the final response.
        if (status >= 200) head = { status, headers: headers as RawResponse["headers"] };
      },
      onResponseData(reading, chunk) {
        chunks.push(chunk.subarray(0, maxBytes - size));
        size += chunk.length;
        if (size <= maxBytes) return;
        end(true);
        reading.abort(BODY_LIMIT_REACHED);
      },
      onResponseEnd: () => end(false),
      onResponseError(_, error) {
        if (head) end(true);
        else reject(error);
      },
    });
  });
  return {
    response,
    abort(reason) {
      abortReason = reason;
      if (controller) controller.abort(reason);
      else rejectResponse(reason);
    },
  };
}
