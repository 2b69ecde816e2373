import { type NodeRequest, readNodeRequest } from "./node-request.ts";
import { type DeliveryHandler, type ReceiveOptions, receive } from "./receive.ts";
import { WebhookError } from "./webhook-error.ts";

/** What is needed of a response of `node:http`. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): { end(text: string): unknown };
}

/** How a handler for `node:http` treats requests and errors. */
export interface NodeReceiveOptions extends ReceiveOptions {
  /** Called with what your handler throws if there is no `next`; by default it is written to the console. */
  onError?: (error: unknown) => void;
}

/**
 * A handler for `http.createServer` and for Express: `app.post("/hook", nodeHandler(…))`, mounted before `express.json()`. It
 * hands what your handler throws to `next`; without one it responds with 500.
 */
export function nodeHandler<Payload = unknown>(
  options: NodeReceiveOptions,
  handle: DeliveryHandler<Payload>,
): (request: NodeRequest, response: NodeResponse, next?: (error?: unknown) => void) => Promise<void> {
  return async (request, response, next) => {
    try {
      const read = () =>
        readNodeRequest(request, request as { body?: unknown; rawBody?: unknown }, options.maxBytes);
      const { status, text, headers } = await receive(read, options, handle);
      response.writeHead(status, headers).end(text);
    } catch (error) {
      if (next) return next(error);
      (options.onError ?? report)(error);
      const text = error instanceof WebhookError ? error.message : "the receiver failed";
      response.writeHead(500, { "content-type": "text/plain; charset=utf-8" }).end(text);
    }
  };
}

// biome-ignore lint/suspicious/noConsole: an error that is shown nowhere is worse
const report = (error: unknown): void => console.error(error);
