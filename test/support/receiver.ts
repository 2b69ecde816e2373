import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request as it was received. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The body's exact text. */
  raw: string;
}

/** How to respond: with a status, a whole response, nothing until `release`, a reset, or what a function returns. */
export type Reply =
  | number
  | { status: number; headers?: Record<string, string>; body?: string }
  | "hang"
  | "reset"
  | ((request: Received) => Reply | Promise<Reply>);

export interface Receiver {
  url: string;
  requests: Received[];
  /** The replies to the next requests, one each; the last one is also for all requests after them. */
  script(...replies: Reply[]): void;
  /** The number of requests that have no response yet. */
  hanging(): number;
  /** Responds with 200 to all requests that have no response yet. */
  release(): void;
  close(): Promise<void>;
}

/** Starts an HTTP server on a free loopback port. Without replies it responds with 200. */
export async function startReceiver(...replies: Reply[]): Promise<Receiver> {
  const requests: Received[] = [];
  const hanging = new Set<ServerResponse>();
  let script: Reply[] = replies;

  const respond = async (request: Received, response: ServerResponse, reply: Reply): Promise<void> => {
    if (typeof reply === "function") return respond(request, response, await reply(request));
    if (reply === "reset") {
      response.destroy();
      return;
    }
    if (reply === "hang") {
      hanging.add(response);
      response.once("close", () => hanging.delete(response));
      return;
    }
    const { status, headers = {}, body = "" } = typeof reply === "number" ? { status: reply } : reply;
    response.writeHead(status, headers).end(body);
  };

  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", chunk => chunks.push(chunk));
    message.on("end", () => {
      const request: Received = {
        method: message.method ?? "",
        path: message.url ?? "",
        headers: message.headers,
        raw: Buffer.concat(chunks).toString("utf8"),
      };
      requests.push(request);
      const reply = script.length > 1 ? script.shift() : script[0];
      void respond(request, response, reply ?? 200);
    });
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}/hook`,
    requests,
    script(...next) {
      script = next;
    },
    hanging: () => hanging.size,
    release() {
      for (const response of hanging) response.writeHead(200).end();
    },
    async close() {
      server.closeAllConnections();
      if (!server.listening) return;
      await new Promise(resolve => server.close(resolve));
    },
  };
}
