import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request as it came. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The body's exact text. */
  raw: string;
}

/** What is answered: a status, a whole answer, nothing at all until `release`, or what a function says. */
export type Reply =
  | number
  | { status: number; headers?: Record<string, string>; body?: string }
  | "hang"
  | "reset"
  | ((request: Received) => Reply | Promise<Reply>);

export interface Receiver {
  url: string;
  requests: Received[];
  /** Replies to the next requests, one each; the last one also to all that follow. */
  script(...replies: Reply[]): void;
  /** Requests that are being left without an answer. */
  hanging(): number;
  /** Answers 200 to all that hang. */
  release(): void;
  close(): Promise<void>;
}

/** A real HTTP server on a free loopback port; it answers 200 unless told. */
export async function startReceiver(...replies: Reply[]): Promise<Receiver> {
  const requests: Received[] = [];
  const hanging = new Set<ServerResponse>();
  let script: Reply[] = replies;

  const answer = async (request: Received, response: ServerResponse, reply: Reply): Promise<void> => {
    if (typeof reply === "function") return answer(request, response, await reply(request));
    if (reply === "reset") return void response.destroy();
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
      void answer(request, response, reply ?? 200);
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
