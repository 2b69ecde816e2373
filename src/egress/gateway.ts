import { rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import type { Dial } from "./dial.ts";
import { toEgressError } from "./egress-error.ts";

export interface GatewayOptions {
  dial: Dial;
  /** Path of the Unix socket to listen on; at most about 100 bytes long. */
  socketPath: string;
  /** Connections open at a time; 64 by default. */
  maxConnections?: number;
}

export interface Gateway {
  /** Ends every connection and takes the socket away. */
  close(): Promise<void>;
}

/** A header line is a host name of 253 bytes and a port. */
const MAX_HEADER_BYTES = 512;
const HEADER_TIMEOUT_MS = 5000;

/**
 * The only way out for sandboxed code (design.md, "Component runtime"): a Unix socket. A client writes one JSON line
 * `{"host","port"}` and reads one, `{"ok":true}` or `{"error","message"}`; then bytes pass both ways to a vetted
 * address.
 */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const maxConnections = options.maxConnections ?? 64;
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, client => {
    client.on("error", () => {});
    if (open.size >= maxConnections) {
      refuse(client, "connect", `more than ${maxConnections} connections at a time`);
      return;
    }
    open.add(client);
    client.once("close", () => open.delete(client));
    void serve(client, options.dial);
  });
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(options.socketPath, () => {
      server.removeListener("error", failed);
      done();
    });
  });
  return {
    async close() {
      const closed = new Promise<void>(done => server.close(() => done()));
      for (const client of open) client.destroy();
      await closed;
      await rm(options.socketPath, { force: true });
    },
  };
}

async function serve(client: Socket, dial: Dial): Promise<void> {
  const gone = new AbortController();
  client.once("close", () => gone.abort(new Error("client gone")));
  const head = await readHead(client);
  const target = head && parseTarget(head.line);
  if (!target) {
    refuse(client, "invalid-url", "expected one JSON line with host and port");
    return;
  }
  try {
    const remote = await dial(target.host, target.port, gone.signal);
    if (head.rest.length > 0) remote.write(head.rest);
    client.write('{"ok":true}\n');
    join(client, remote);
  } catch (error) {
    const { code, message } = toEgressError(error, target.host);
    refuse(client, code, message);
  }
}

function refuse(client: Socket, error: string, message: string): void {
  client.end(`${JSON.stringify({ error, message })}\n`, () => client.destroy());
}

/** Reads up to the first line end; nothing when the line is too long, too slow or never ends. */
function readHead(client: Socket): Promise<{ line: string; rest: Buffer } | undefined> {
  return new Promise(done => {
    let read = Buffer.alloc(0);
    const finish = (head?: { line: string; rest: Buffer }) => {
      clearTimeout(timer);
      client.off("data", onData).off("end", onEnd).off("close", onEnd).pause();
      done(head);
    };
    const onEnd = () => finish();
    const onData = (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      const end = read.indexOf(10);
      if (end >= 0 && end <= MAX_HEADER_BYTES) {
        finish({ line: read.toString("utf8", 0, end), rest: read.subarray(end + 1) });
      } else if (read.length > MAX_HEADER_BYTES) finish();
    };
    const timer = setTimeout(onEnd, HEADER_TIMEOUT_MS);
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

/** Half-open on both sides: a client that ends its request still gets the answer. */
function join(client: Socket, remote: Socket): void {
  client.pipe(remote);
  remote.pipe(client);
  remote.on("error", () => client.destroy());
  remote.once("close", () => client.destroySoon());
  client.once("close", () => remote.destroy());
}
