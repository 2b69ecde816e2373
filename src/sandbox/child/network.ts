import net from "node:net";

/** Deno's net.Socket keeps Node's internals; these two are how Node itself swaps a socket's handle. */
interface SocketInternals {
  _handle: unknown;
  connecting: boolean;
}

type Connect = (this: net.Socket, ...args: unknown[]) => net.Socket;

/**
 * Sends every connection of node:net, and with it node:tls, http, https, http2 and undici, to the gateway's Unix
 * socket. It is patched where they all meet, so that a named import made before or after sees it too. This is for
 * function, not for safety: the process has no permission for any other way out.
 */
export function rerouteSockets(gatewayPath: string): void {
  const prototype = net.Socket.prototype as unknown as Record<symbol, unknown> & { connect: Connect };
  const connectDirect = prototype.connect;
  const adopt = Object.getOwnPropertySymbols(prototype).find(
    symbol => symbol.description === "kReinitializeHandle",
  );
  if (!adopt) throw new Error("this deno is not the one that Headwater pins");

  prototype.connect = function connect(...args) {
    const [options, listener] = readArguments(args);
    if (listener) this.once("connect", listener);
    if (options.path) return fail(this, new Error("Unix sockets can't be used here"));
    const host = String(options.host ?? "localhost");
    const port = Number(options.port);
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw Object.assign(new RangeError(`Port should be > 0 and < 65536. Received ${options.port}`), {
        code: "ERR_SOCKET_BAD_PORT",
      });
    }
    (this as unknown as SocketInternals).connecting = true;
    const carrier = new net.Socket({ allowHalfOpen: true });
    this.once("close", () => carrier.destroy());
    carrier.once("error", error => this.destroy(error));
    connectDirect.call(carrier, { path: gatewayPath });
    carrier.write(`${JSON.stringify({ host, port })}\n`);
    readLine(carrier, (line, rest) => {
      const refusal = refusalOf(line, host, port);
      if (this.destroyed || refusal) {
        carrier.destroy();
        if (refusal) this.destroy(refusal);
        return;
      }
      take(this, carrier, adopt, rest);
      if (options.keepAlive) this.setKeepAlive(true);
    });
    return this;
  };
}

/** Moves the carrier's connection to the socket that the caller holds. */
function take(socket: net.Socket, carrier: net.Socket, adopt: symbol, rest: Uint8Array): void {
  const from = carrier as unknown as SocketInternals;
  const handle = from._handle as { readStop(): void; reading: boolean };
  handle.readStop();
  handle.reading = false;
  from._handle = null;
  (socket as unknown as Record<symbol, (handle: unknown) => void>)[adopt]?.(handle);
  (socket as unknown as SocketInternals).connecting = false;
  socket.emit("connect");
  socket.emit("ready");
  if (rest.length > 0) socket.push(rest);
  if (!socket.isPaused()) socket.read(0);
}

function readLine(carrier: net.Socket, done: (line: string, rest: Uint8Array) => void): void {
  let read = Buffer.alloc(0);
  const onData = (chunk: Buffer) => {
    read = Buffer.concat([read, chunk]);
    const end = read.indexOf(10);
    if (end < 0) return;
    carrier.off("data", onData).off("end", onEnd);
    done(read.toString("utf8", 0, end), read.subarray(end + 1));
  };
  const onEnd = () => carrier.destroy(new Error("the gateway ended the connection"));
  carrier.on("data", onData).on("end", onEnd);
}

/** As Node would report it, so that a library's retry logic sees the code it knows. */
const NODE_CODES: Record<string, string> = {
  "blocked-address": "EACCES",
  dns: "ENOTFOUND",
  connect: "ECONNREFUSED",
  timeout: "ETIMEDOUT",
};

function refusalOf(line: string, host: string, port: number): Error | undefined {
  const { error, message } = JSON.parse(line) as { error?: string; message?: string };
  if (error === undefined) return undefined;
  const code = NODE_CODES[error] ?? "ECONNRESET";
  return Object.assign(new Error(`connect ${code} ${host}:${port} (${message})`), {
    code,
    syscall: "connect",
    host,
    hostname: host,
    port,
  });
}

function fail(socket: net.Socket, error: Error): net.Socket {
  queueMicrotask(() => socket.destroy(error));
  return socket;
}

type Options = { host?: unknown; port?: unknown; path?: unknown; keepAlive?: unknown };

/** `connect(options, cb)`, `connect(port, host, cb)`, `connect(path, cb)`, or Node's own normalised array. */
function readArguments(args: unknown[]): [Options, (() => void) | undefined] {
  const list = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  const last = list[list.length - 1];
  const listener = typeof last === "function" ? (last as () => void) : undefined;
  const [first, second] = list;
  if (typeof first === "object" && first !== null) return [first as Options, listener];
  if (typeof first === "string" && Number.isNaN(Number(first))) return [{ path: first }, listener];
  return [{ port: first, ...(typeof second === "string" ? { host: second } : {}) }, listener];
}
