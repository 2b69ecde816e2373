import net from "node:net";

/** Internals of Node's net.Socket, which Deno's has too. Node itself replaces a socket's handle through them. */
interface SocketInternals {
  _handle: unknown;
  connecting: boolean;
}

type Connect = (this: net.Socket, ...args: unknown[]) => net.Socket;

/**
 * Routes every connection of node:net, and with it of node:tls, http, https, http2 and undici, through the gateway's
 * Unix socket. It replaces the method that all of them call, so that named imports are affected too. Security does not
 * depend on this: the process has no permission to connect to anything else.
 */
export function rerouteSockets(gatewayPath: string): void {
  const prototype = net.Socket.prototype as unknown as Record<symbol, unknown> & { connect: Connect };
  const connectDirect = prototype.connect;
  const adopt = Object.getOwnPropertySymbols(prototype).find(
    symbol => symbol.description === "kReinitializeHandle",
  );
  if (!adopt) throw new Error("this version of deno is not the one that Headwater requires");

  prototype.connect = function connect(...args) {
    const [options, listener] = readArguments(args);
    if (listener) this.once("connect", listener);
    if (options.path) return fail(this, new Error("Unix sockets can't be used in a component"));
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
      const error = parseError(line, host, port);
      if (this.destroyed || error) {
        carrier.destroy();
        if (error) this.destroy(error);
        return;
      }
      transferHandle(this, carrier, adopt, rest);
      if (options.keepAlive) this.setKeepAlive(true);
    });
    return this;
  };
}

/** Moves the carrier's connection to the caller's socket. */
function transferHandle(socket: net.Socket, carrier: net.Socket, adopt: symbol, rest: Uint8Array): void {
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

function readLine(carrier: net.Socket, onLine: (line: string, rest: Uint8Array) => void): void {
  let received = Buffer.alloc(0);
  const onData = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const end = received.indexOf(10);
    if (end < 0) return;
    carrier.off("data", onData).off("end", onEnd);
    onLine(received.toString("utf8", 0, end), received.subarray(end + 1));
  };
  const onEnd = () => carrier.destroy(new Error("the gateway closed the connection"));
  carrier.on("data", onData).on("end", onEnd);
}

/** The codes that Node would report, so that the retry logic of libraries works. */
const NODE_CODES: Record<string, string> = {
  "blocked-address": "EACCES",
  dns: "ENOTFOUND",
  connect: "ECONNREFUSED",
  timeout: "ETIMEDOUT",
};

/** Returns the error that the gateway's line reports; undefined if it reports success. */
function parseError(line: string, host: string, port: number): Error | undefined {
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

/** Accepts `connect(options, cb)`, `connect(port, host, cb)`, `connect(path, cb)`, or Node's own normalised array. */
function readArguments(args: unknown[]): [Options, (() => void) | undefined] {
  const list = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  const last = list[list.length - 1];
  const listener = typeof last === "function" ? (last as () => void) : undefined;
  const [first, second] = list;
  if (typeof first === "object" && first !== null) return [first as Options, listener];
  if (typeof first === "string" && Number.isNaN(Number(first))) return [{ path: first }, listener];
  return [{ port: first, ...(typeof second === "string" ? { host: second } : {}) }, listener];
}
