import { checkLength, checkUnread, readBytes } from "./raw-body.ts";
import { type DeliveryHandler, type ReceiveOptions, receive } from "./receive.ts";

/**
 * A handler for everything that has `Request` and `Response`: Deno, Bun, Workers, Next (`export const POST = …`), Hono
 * (`c => handler(c.req.raw)`). Rejects with what your handler throws, which those turn into a 500.
 */
export function fetchHandler<Payload = unknown>(
  options: ReceiveOptions,
  handle: DeliveryHandler<Payload>,
): (request: Request) => Promise<Response> {
  return async request => {
    const read = async () => {
      checkUnread(request.bodyUsed, undefined);
      checkLength(request.headers.get("content-length"), options.maxBytes);
      const body = await readBytes(chunksOf(request.body), options.maxBytes);
      return { body, headers: request.headers };
    };
    const { status, text, headers } = await receive(read, options, handle);
    return new Response(text, { status, headers });
  };
}

/** Not every platform's streams are iterable. */
async function* chunksOf(body: Request["body"]): AsyncGenerator<Uint8Array, void, undefined> {
  if (!body) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
