import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { readBytes } from "../../http/body.ts";
import { createBoundedServer } from "../../http/bounded-server.ts";
import { type HttpEvent, httpEvent } from "../../ingress/http-event.ts";
import {
  accepted,
  CORS,
  fromComponent,
  type IngressResponse,
  MAX_BODY_BYTES,
  rejected,
} from "../../ingress/response.ts";
import { AppError } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { settlesWithin } from "../../lib/time.ts";
import type { DevSource } from "./session.ts";

export interface HttpPort {
  url: string;
  close(): Promise<void>;
}

async function readEvent(message: IncomingMessage, portUrl: string): Promise<HttpEvent> {
  const { method = "GET", url: target = "/", headers, socket } = message;
  const [path = "", ...query] = target.split("?");
  return httpEvent({
    method,
    path: path || "/",
    search: new URLSearchParams(query.join("?")),
    headers,
    body: await readBytes(message, { maxBytes: MAX_BODY_BYTES, keepsUnknown: true }),
    url: `${portUrl}${target}`,
    clientIp: socket.remoteAddress ?? "",
  });
}

/**
 * Opens the component's HTTP interface on a loopback port, with the same events that a deployed source receives. Throws
 * AppError `unavailable` if the port can't be used.
 * @param port 0 for any free one
 * @param handle returns the response to a request; must not reject
 */
export async function openHttpPort(
  port: number,
  handle: (event: HttpEvent) => Promise<IngressResponse>,
): Promise<HttpPort> {
  let url = "";
  const server = createBoundedServer(async (message, response) => {
    const send = ({ status, headers, body }: IngressResponse) =>
      response.writeHead(status, { ...CORS, ...headers }).end(body);
    if (message.method === "OPTIONS") {
      const requested = message.headers["access-control-request-headers"] ?? "*";
      send({ status: 204, headers: { "access-control-allow-headers": requested }, body: Buffer.alloc(0) });
      return;
    }
    try {
      send(await handle(await readEvent(message, url)));
    } catch (error) {
      const isTooLarge = error instanceof AppError && error.code === "too-large";
      const detail = error instanceof AppError ? error.message : "the body could not be read";
      send(rejected(isTooLarge ? 413 : 400, detail));
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  }).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === "EADDRINUSE" ? "is taken" : `can't be used: ${error.message}`;
    throw new AppError("unavailable", `port ${port} ${reason}; choose another one with --port`, {
      cause: error,
    });
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async close() {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Returns a handler of HTTP requests that responds as the ingress of a server does
 * (docs/component-api.md#events-given-to-run): at once, or with the component's own response if its code may send
 * one. If a run ends without a response, that is 200, or 400 with `customResponse`; after `maxWaitMs` it is 504.
 */
export function createRequestHandler(source: DevSource, maxWaitMs: number) {
  const { session, printer } = source;

  async function respond(event: HttpEvent): Promise<IngressResponse> {
    const { description, props, hasHttp } = source.code;
    if (!hasHttp) return rejected(404, "the component has no HTTP interface");
    const runId = newId("run");
    const isCustom = props.some(prop => prop.customResponse);
    if (!isCustom && !description.usesRespond) {
      void session.run(event);
      return accepted(runId);
    }
    const response = new Promise<IngressResponse>(resolve => {
      const withoutResponse = isCustom
        ? rejected(400, "the component ended without a response")
        : accepted(runId);
      void session
        .run(event, { onRespond: given => resolve(fromComponent(given)) })
        .then(() => resolve(withoutResponse));
    });
    const isInTime = await settlesWithin(response, maxWaitMs);
    return isInTime ? response : rejected(504, "the component did not respond in time");
  }

  return async (event: HttpEvent): Promise<IngressResponse> => {
    const request = `${event.method} ${event.path}`;
    printer.say("request", request);
    const response = await respond(event);
    printer.say("response", `${request} ${response.status} ${response.body.length} bytes`);
    return response;
  };
}
