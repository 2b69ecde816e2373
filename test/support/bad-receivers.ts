import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { TEST_TLS } from "../egress/test-tls.ts";

/** A receiver that violates the rules of HTTP. */
export interface BadReceiver {
  url: string;
  /** The number of connections accepted so far. */
  accepted(): number;
  /** The number of open connections. */
  open(): number;
  /** The number of bytes sent as responses. */
  sentBytes(): number;
  close(): Promise<void>;
}

type Behaviour = (socket: Socket) => void;

const MEGABYTE = 1024 * 1024;
export const HUGE_BYTES = 10 * MEGABYTE;
const DRIP_MS = 20;

const head = (...lines: string[]) => `${["HTTP/1.1 200 OK", ...lines].join("\r\n")}\r\n\r\n`;

/** Starts the behaviour when the first bytes of the request arrive. */
const onRequest =
  (answer: Behaviour): Behaviour =>
  socket =>
    void socket.once("data", () => answer(socket));

const says = (text: string, then?: Behaviour) =>
  onRequest(socket => void socket.write(text, () => then?.(socket)));

/** Continues for as long as the other side allows. */
const drips = (bytes: (index: number) => string, everyMs = DRIP_MS) =>
  onRequest(socket => {
    let index = 0;
    const timer = setInterval(() => {
      const next = bytes(index++);
      if (next === "") socket.end();
      else socket.write(next);
    }, everyMs);
    socket.once("close", () => clearInterval(timer));
  });

/** Writes `total` bytes of `piece`, as fast as they are read. */
const pours = (first: string, piece: Buffer, total: number) =>
  onRequest(socket => {
    let left = total;
    const pour = () => {
      while (left > 0 && !socket.destroyed) {
        left -= piece.length;
        if (!socket.write(piece)) return void socket.once("drain", pour);
      }
      if (left <= 0) socket.end();
    };
    socket.write(first);
    pour();
  });

const end = (socket: Socket) => void socket.end();
const reset = (socket: Socket) => void socket.resetAndDestroy();
const piece = Buffer.alloc(64 * 1024, "x");
const WHOLE = head("content-length: 2");

export const BEHAVIOURS = {
  "takes the request and hangs": () => undefined,
  "answers its head byte by byte, without end": drips(index => (index < 17 ? `${WHOLE[index]}` : "x")),
  "answers its body byte by byte, without end": drips(index => (index === 0 ? head() : "x")),
  "answers its body byte by byte, and in time": drips(
    index => (index === 0 ? head("content-length: 5") : (["h", "e", "l", "l", "o"][index - 1] ?? "")),
    1,
  ),
  "answers early hints without end": drips(() => "HTTP/1.1 103 Early Hints\r\n\r\n"),
  "answers 10 MB": pours(head(`content-length: ${HUGE_BYTES}`), piece, HUGE_BYTES),
  "answers 10 MB in chunks": pours(
    head("transfer-encoding: chunked"),
    Buffer.concat([Buffer.from("10000\r\n"), piece, Buffer.from("\r\n")]),
    HUGE_BYTES,
  ),
  "answers 10 MB of headers": pours(
    "HTTP/1.1 200 OK\r\n",
    Buffer.from(`x-much: ${"x".repeat(1000)}\r\n`.repeat(64)),
    HUGE_BYTES,
  ),
  "closes before the request": end,
  "closes without an answer": onRequest(end),
  "closes in the middle of its head": says("HTTP/1.1 200 OK\r\ncontent-le", end),
  "closes in the middle of its body": says(`${head("content-length: 100")}part`, end),
  "closes in the middle of a chunk": says(`${head("transfer-encoding: chunked")}64\r\npart`, end),
  "resets before the request": reset,
  "resets without an answer": onRequest(reset),
  "resets in the middle of its body": says(`${head("content-length: 100")}part`, reset),
  "speaks another protocol": says("SSH-2.0-OpenSSH_9.9\r\n"),
  "answers a body without a head": says("hello\n"),
  "answers a malformed status": says("HTTP/1.1 abc OK\r\n\r\n"),
  "answers a malformed header": says(head("no colon here")),
  "answers two lengths": says(`${head("content-length: 2", "content-length: 3")}abc`),
  "answers a length and chunks": says(`${head("content-length: 2", "transfer-encoding: chunked")}2\r\nok`),
  "answers a malformed chunk": says(`${head("transfer-encoding: chunked")}zz\r\nok\r\n0\r\n\r\n`),
  "answers a status of its own": says("HTTP/1.1 799 Well\r\ncontent-length: 2\r\n\r\nok"),
  "wants another protocol": says("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n"),
  "answers twice": says(`${WHOLE}ok${WHOLE}no`),
} satisfies Record<string, Behaviour>;

/** Behaviours in the TLS handshake, for `https`. */
export const TLS_BEHAVIOURS = {
  "never begins TLS": () => undefined,
  "answers plain HTTP where TLS is asked for": says(`${WHOLE}ok`),
  "closes in the middle of the handshake": onRequest(end),
  "resets in the middle of the handshake": onRequest(reset),
} satisfies Record<string, Behaviour>;

/** Starts a receiver with this behaviour on a free loopback port. */
export async function startBadReceiver(behaviour: Behaviour, scheme = "http"): Promise<BadReceiver> {
  return await listen(createServer({ allowHalfOpen: true }, behaviour), scheme);
}

/** Starts a receiver that responds with 200, with a certificate that no authority has signed. */
export async function startSelfSigned(): Promise<BadReceiver> {
  return await listen(createTlsServer(TEST_TLS, says(`${WHOLE}ok`)), "https");
}

/** A URL with a port where nothing listens. */
export async function refusedUrl(): Promise<string> {
  const gone = await startBadReceiver(end);
  await gone.close();
  return gone.url;
}

async function listen(server: Server, scheme: string): Promise<BadReceiver> {
  const open = new Set<Socket>();
  let accepted = 0;
  let sentBefore = 0;
  server.on("connection", (socket: Socket) => {
    accepted += 1;
    open.add(socket);
    socket.on("error", () => undefined);
    // A receiver that hangs must still notice that the other side closes the connection.
    socket.on("end", () => socket.end()).resume();
    socket.once("close", () => {
      open.delete(socket);
      sentBefore += socket.bytesWritten;
    });
  });
  server.on("tlsClientError", () => undefined);
  await new Promise<void>(done => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}/hook`,
    accepted: () => accepted,
    open: () => open.size,
    sentBytes: () => [...open].reduce((sum, socket) => sum + socket.bytesWritten, sentBefore),
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise(done => server.close(done));
    },
  };
}
