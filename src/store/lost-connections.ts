import { createRequire } from "node:module";
import type { Socket } from "node:net";

interface DriverConnection {
  socket: Socket;
  closed: boolean;
  cleanup(error: Error): void;
}

let isMended = false;

/**
 * Mends MongoDB's driver (7.8.0, and 7.9.0): a command that waits for its socket to drain waits without an end when the
 * connection is lost meanwhile, and one written a moment later begins to wait so; a job would hang with it until its
 * process is restarted. Here the first goes on, to find the connection's error, and the second fails as the driver
 * expects it. To go with the first driver that `test/store/lost-connections.test.ts` passes without it.
 */
export function endWaitsOfLostConnections(): void {
  if (isMended) return;
  isMended = true;
  // The driver that mongoose uses.
  const require = createRequire(createRequire(import.meta.url).resolve("mongoose"));
  const { Connection } = require("mongodb/lib/cmap/connection.js") as {
    Connection: { prototype: DriverConnection };
  };
  const { cleanup } = Connection.prototype;
  Connection.prototype.cleanup = function (error) {
    const isFirst = !this.closed;
    cleanup.call(this, error);
    if (!isFirst) return;
    this.socket.write = () => {
      throw new Error("the connection is closed");
    };
    this.socket.emit("drain");
  };
}
