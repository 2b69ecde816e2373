import { createRequire } from "node:module";
import type { Socket } from "node:net";

interface DriverConnection {
  socket: Socket;
  closed: boolean;
  cleanup(error: Error): void;
}

let isPatched = false;

/**
 * Patches MongoDB's driver (7.8.0 and 7.9.0). A command that waits for its socket to drain waits without end if the
 * connection is lost, and so does a command written a moment later; a job would hang with it until its process is
 * restarted. With the patch the first command goes on and meets the connection's error, and the second fails as the driver
 * expects. No upstream issue found (searched 2026-11-28); mongodb/node-mongodb-native#4022 wrote the wait for `drain`. It goes when
 * `test/store/lost-connections.test.ts` fails, because a command of the driver alone ends.
 */
export function failWaitsOfLostConnections(): void {
  if (isPatched) return;
  isPatched = true;
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
