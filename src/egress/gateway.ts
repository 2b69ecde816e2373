import { rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { LIMITS } from "../limits/catalogue.ts";
import type { Dial } from "./dial.ts";
import { toEgressError } from "./egress-error.ts";

export interface GatewayOptions {
  dial: Dial;
  /** Path of the Unix socket to listen on; the system permits about 100 bytes. */
  socketPath: string;
}

/** The first line of a connection, and the bytes that were received after it. */
interface Head {
  line: string;
  rest: Buffer;
}

/** The head line contains a port and a host name, which is at most 253 bytes long. */
const MAX_HEAD_BYTES = 512;
const HEAD_TIMEOUT_MS = 5000;

const MAX_CONNECTIONS = LIMITS.sandboxConnections.value;

/**
 * The only network access of sandboxed code (docs/design.md#sandbox): a Unix socket. A client writes one JSON line,
 * `{"host","port"}`, and reads one: `{"ok":true}`, or `{"error","message"}` with an EgressErrorCode. After `ok`, bytes
 * are piped in both directions between the client and an address that `dial` has checked.
 */
export class Gateway {
  readonly #dial: Dial;
  readonly #socketPath: string;
  readonly #clients = new Set<Socket>();
  readonly #server = createServer({ allowHalfOpen: true }, client => this.#accept(client));

  private constructor({ dial, socketPath }: GatewayOptions) {
    this.#dial = dial;
    this.#socketPath = socketPath;
  }

  /** Resolves when the gateway listens; rejects if it can't. */
  static async open(options: GatewayOptions): Promise<Gateway> {
    const gateway = new Gateway(options);
    await gateway.#listen();
    return gateway;
  }

  /** Ends every connection and removes the socket. */
  async close(): Promise<void> {
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()));
    for (const client of this.#clients) client.destroy();
    await closed;
    await rm(this.#socketPath, { force: true });
  }

  #listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#socketPath, () => {
        this.#server.removeListener("error", reject);
        resolve();
      });
    });
  }

  #accept(client: Socket): void {
    client.on("error", () => {});
    if (this.#clients.size >= MAX_CONNECTIONS) {
      reject(client, "connect", `more than ${MAX_CONNECTIONS} connections at a time`);
      return;
    }
    this.#clients.add(client);
    client.once("close", () => this.#clients.delete(client));
    void this.#serve(client);
  }

  async #serve(client: Socket): Promise<void> {
    const closed = new AbortController();
    client.once("close", () => closed.abort(new Error("the client closed its connection")));
    const head = await readHead(client);
    const target = head && parseTarget(head.line);
    if (!target) {
      reject(client, "invalid-url", "expected one JSON line with host and port");
      return;
    }
    try {
      const remote = await this.#dial(target.host, target.port, closed.signal);
      if (head.rest.length > 0) remote.write(head.rest);
      client.write('{"ok":true}\n');
      pipeBoth(client, remote);
    } catch (error) {
      const { code, message } = toEgressError(error, target.host);
      reject(client, code, message);
    }
  }
}

function reject(client: Socket, error: string, message: string): void {
  client.end(`${JSON.stringify({ error, message })}\n`, () => client.destroy());
}

/** Reads up to the first line break. Returns undefined if the line is too long, too slow or never complete. */
function readHead(client: Socket): Promise<Head | undefined> {
  return new Promise(resolve => {
    let received = Buffer.alloc(0);
    const finish = (head?: Head) => {
      clearTimeout(timer);
      client.off("data", onData).off("end", onEnd).off("close", onEnd).pause();
      resolve(head);
    };
    const onEnd = () => finish();
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf(10);
      if (end >= 0 && end <= MAX_HEAD_BYTES) {
        finish({ line: received.toString("utf8", 0, end), rest: received.subarray(end + 1) });
      } else if (received.length > MAX_HEAD_BYTES) finish();
    };
    const timer = setTimeout(onEnd, HEAD_TIMEOUT_MS);
    client.on("data", onData).on("end", onEnd).on("close", onEnd);
  });
}

function parseTarget(line: string): { host: string; port: number } | undefined {
  try {
    const { host, port } = JSON.parse(line) as { host?: unknown; port?: unknown };
    const isHost = typeof host === "string" && /^[\w.:[\]%-]{1,253}$/.test(host);
    if (!isHost || !Number.isInteger(port) || Number(port) < 1 || Number(port) > 65_535) return undefined;
    return { host, port: Number(port) };
  } catch {
    return undefined;
  }
}

/** Pipes both ways. Either side may be half-open: a client that ends its request still receives the response. */
function pipeBoth(client: Socket, remote: Socket): void {
  client.pipe(remote);
  remote.pipe(client);
  remote.on("error", () => client.destroy());
  remote.once("close", () => client.destroySoon());
  client.once("close", () => remote.destroy());
}
