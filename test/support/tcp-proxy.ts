import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A port of this machine that leads to another one, until a test says otherwise. */
export interface TcpProxy {
  port: number;
  /** Leads to this port from now on; connections that are open break. */
  leadTo(port: number): void;
  /** Breaks all connections, and every new one. */
  cut(): void;
  /** Passes nothing on any more; connections stay open. */
  hang(): void;
  close(): Promise<void>;
}

/** Opens a proxy on loopback. */
export async function openTcpProxy(to: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let target: number | null = to;
  let isHanging = false;
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const pass = (from: Socket, into: Socket) => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on("data", data => {
      if (!isHanging) into.write(data);
    });
    from.on("error", () => undefined);
    from.on("close", () => {
      sockets.delete(from);
      if (!isHanging) into.destroy();
    });
  };
  const server = createServer(socket => {
    if (target === null) {
      socket.on("error", () => undefined);
      socket.destroy();
      return;
    }
    const other = connect(target, "127.0.0.1");
    pass(socket, other);
    pass(other, socket);
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    leadTo(port) {
      target = port;
      isHanging = false;
      breakAll();
    },
    cut() {
      target = null;
      breakAll();
    },
    hang() {
      isHanging = true;
    },
    async close() {
      target = null;
      breakAll();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
