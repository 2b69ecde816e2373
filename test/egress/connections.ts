import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type AddressInfo, createServer, type Socket } from "node:net";

const CHANNEL = "net.client.socket";

export interface ConnectionWatch {
  /** Runs `work` and returns how many sockets it started to connect, to any address. */
  count<T>(work: () => Promise<T>): Promise<{ result: T; sockets: number }>;
  close(): void;
}

/**
 * Watches every client socket that starts to connect, through Node's diagnostics channel, and attributes it to its
 * caller.
 */
export function watchConnections(): ConnectionWatch {
  const caller = new AsyncLocalStorage<{ sockets: number }>();
  const onSocket = () => {
    const counted = caller.getStore();
    if (counted) counted.sockets += 1;
  };
  subscribe(CHANNEL, onSocket);
  return {
    async count(work) {
      const counted = { sockets: 0 };
      const result = await caller.run(counted, work);
      return { result, sockets: counted.sockets };
    },
    close: () => void unsubscribe(CHANNEL, onSocket),
  };
}

export interface Tripwire {
  port: number;
  accepted(): number;
  close(): Promise<void>;
}

/** Listens on every address of this machine, IPv4 and IPv6, and counts connections. */
export async function startTripwire(): Promise<Tripwire> {
  let accepted = 0;
  const open = new Set<Socket>();
  const server = createServer(socket => {
    accepted += 1;
    open.add(socket.on("error", () => undefined).resume());
    socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
  });
  await new Promise<void>(done => server.listen(0, "::", done));
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise(done => server.close(done));
    },
  };
}
