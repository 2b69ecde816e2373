import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { TEST_TLS } from "./test-tls.ts";

/** A forward proxy as operators run one. */
export interface ConnectProxy {
  port: number;
  /** What `CONNECT` asked for, in order: `203.0.113.5:443`. */
  asked: string[];
  /** `Proxy-Authorization` of each of them. */
  credentials: (string | undefined)[];
  /** Requests that were no `CONNECT`. */
  others: string[];
  close(): Promise<void>;
}

interface ProxyOptions {
  isTls?: boolean;
  /** The status to respond with; 200 connects, null never responds. */
  status?: number | null;
}

/** Starts a proxy that does `CONNECT` only, over TLS with the certificate of the tests if that is wanted. */
export async function startConnectProxy({
  isTls = false,
  status = 200,
}: ProxyOptions = {}): Promise<ConnectProxy> {
  const open = new Set<Socket>();
  const [asked, credentials, others]: [string[], (string | undefined)[], string[]] = [[], [], []];
  const server = isTls ? createTlsServer(TEST_TLS) : createServer();
  server.on("connection", (socket: Socket) => open.add(socket.on("error", () => undefined)));
  server.on("request", (request, response) => {
    others.push(`${request.method} ${request.url}`);
    response.writeHead(405).end();
  });
  server.on("connect", (request: IncomingMessage, client: Socket, head: Buffer) => {
    const authority = request.url ?? "";
    asked.push(authority);
    credentials.push(request.headers["proxy-authorization"]);
    client.on("error", () => undefined);
    if (status === null) return;
    if (status !== 200) {
      client.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${authority}`);
    const upstream = connect(Number(port) || 80, hostname, () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    open.add(upstream);
    upstream.on("error", () => client.destroy());
  });
  await new Promise<void>(done => server.listen(0, "127.0.0.1", done));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    credentials,
    others,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise(done => server.close(done));
    },
  };
}
