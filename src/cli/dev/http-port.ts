import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { readBytes } from "../../http/body/read-bytes.ts";
import { createBoundedServer } from "../../http/bounded-server.ts";
import { type HttpEvent, httpEvent } from "../../ingress/http-event.ts";
import { CORS, type IngressResponse, MAX_BODY_BYTES, rejected } from "../../ingress/response.ts";
import { AppError } from "../../lib/errors.ts";

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
