import { type NodeRequest, readNodeRequest } from "./node-request.ts";
import { type DeliveryHandler, type ReceiveOptions, receive } from "./receive.ts";

/** What is needed of a context of Koa. */
export interface KoaContext {
  req: NodeRequest;
  /** Parsers leave `body` and `rawBody` here. */
  request: object;
  status: number;
  body: unknown;
  set(headers: Record<string, string>): void;
}

/** Middleware for Koa, before or after `@koa/bodyparser`. Throws what your handler throws, which Koa turns into a 500. */
export function koaHandler<Payload = unknown>(
  options: ReceiveOptions,
  handle: DeliveryHandler<Payload>,
): (context: KoaContext) => Promise<void> {
  return async context => {
    const read = () => readNodeRequest(context.req, context.request, options.maxBytes);
    const { status, text, headers } = await receive(read, options, handle);
    context.status = status;
    context.set(headers);
    context.body = text;
  };
}
