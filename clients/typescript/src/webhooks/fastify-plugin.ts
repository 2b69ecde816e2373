import { keptBody, MAX_BYTES } from "./raw-body.ts";
import { type DeliveryHandler, type ReceiveOptions, receive } from "./receive.ts";
import { bodyParsed } from "./webhook-error.ts";

interface FastifyRequest {
  body: unknown;
  headers: Record<string, string | string[] | undefined>;
}

interface FastifyReply {
  code(status: number): FastifyReply;
  headers(values: Record<string, string>): FastifyReply;
  send(text: string): FastifyReply;
}

/** What is needed of an instance of Fastify. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: "*",
    options: { parseAs: "buffer"; bodyLimit?: number },
    parse: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown;
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}

/**
 * A plugin for Fastify: `app.register(fastifyPlugin("/hook", …))`. Its own scope leaves the body as it came; the parsers of
 * the other routes stay.
 */
export function fastifyPlugin<Payload = unknown>(
  path: string,
  options: ReceiveOptions,
  handle: DeliveryHandler<Payload>,
): (scope: FastifyScope) => Promise<void> {
  return async scope => {
    const limit = { bodyLimit: options.maxBytes ?? MAX_BYTES };
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer", ...limit }, (_request, body, done) =>
      done(null, body),
    );
    scope.post(path, async (request, reply) => {
      const read = async () => {
        const body = keptBody(request.body);
        if (body === undefined) throw bodyParsed("the body was parsed before it came here");
        return { body, headers: request.headers };
      };
      const { status, text, headers } = await receive(read, options, handle);
      return reply.code(status).headers(headers).send(text);
    });
  };
}
