import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import getRawBody from "raw-body";
import { type HttpEvent, httpEvent } from "../../ingress/http-event.ts";
import { CORS, type IngressResponse, MAX_BODY_BYTES, rejected } from "../../ingress/response.ts";
import { AppError } from "../../lib/errors.ts";

export interface HttpPort {
  url: string;
  close(): Promise<void>;
}

async function eventOf(message: IncomingMessage, url: string): Promise<HttpEvent> {
  const { method = "GET", url: asked = "/", headers, socket } = message;
  const [path = "", ...query] = asked.split("?");
  const length = headers["content-length"] ?? null;
  return httpEvent({
    method,
    path: path || "/",
    search: new URLSearchParams(query.join("?")),
    headers,
    body: await getRawBody(message, { length, limit: MAX_BODY_BYTES }),
    url: `${url}${asked}`,
    clientIp: socket.remoteAddress ?? "",
  });
}

/**
 * The component's HTTP interface on a loopback port, with the events that a deployed one gets.
 * Throws AppError `unavailable` when the port is taken.
 * @param port 0 for any free one. @param take answers a request, whatever the component does.
 */
export async function openHttpPort(
  port: number,
  take: (event: HttpEvent) => Promise<IngressResponse>,
): Promise<HttpPort> {
  let url = "";
  const server = createServer(async (message, response) => {
    const send = ({ status, headers, body }: IngressResponse) =>
      response.writeHead(status, { ...CORS, ...headers }).end(body);
    if (message.method === "OPTIONS") {
      const asked = message.headers["access-control-request-headers"] ?? "*";
      send({ status: 204, headers: { "access-control-allow-headers": asked }, body: Buffer.alloc(0) });
      return;
    }
    try {
      send(await take(await eventOf(message, url)));
    } catch (error) {
      const isTooLarge = (error as { type?: string }).type === "entity.too.large";
      send(
        isTooLarge ? rejected(413, "the body is over 512 KB") : rejected(400, "the body could not be read"),
      );
      // What is left of the body is not read.
      message.socket.destroySoon();
    }
  });
  await new Promise<void>((done, failed) => {
    server.once("error", failed).listen(port, "127.0.0.1", done);
  }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "EADDRINUSE" ? "is taken" : `can't be used: ${error.message}`;
    throw new AppError("unavailable", `port ${port} ${why}; --port gives another one`, { cause: error });
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async close() {
      const closed = new Promise(done => server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}
