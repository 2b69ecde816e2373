import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a server that can be cut. */
export interface CutProxy {
  url: string;
  /** Ends every connection, and accepts no other until `restore`. */
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Starts a proxy to a server on this machine. */
export async function startCutProxy(target: string): Promise<CutProxy> {
  const { port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
  const keep = (socket: Socket, other: Socket) => {
    sockets.add(socket);
    socket.on("error", () => other.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
    socket.pipe(other);
  };
  const server = createServer(socket => {
    if (isCut) return void socket.destroy();
    const out = connect(Number(port), "127.0.0.1");
    keep(socket, out);
    keep(out, socket);
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    restore: () => {
      isCut = false;
    },
    close: () => {
      cut();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}
