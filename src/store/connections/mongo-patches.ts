import { createRequire } from "node:module";
import type { Socket } from "node:net";

interface DriverConnection {
  socket: Socket;
  closed: boolean;
  cleanup(error: Error): void;
}

let failsWaits = false;

/**
 * Patches MongoDB's driver (7.8.0 and 7.9.0). A command that waits for its socket to drain waits without end if the
 * connection is lost, and so does a command written a moment later; a job would hang with it until its process is
 * restarted. With the patch the first command goes on and meets the connection's error, and the second fails as the driver
 * expects. No upstream issue found (searched 2026-11-28); mongodb/node-mongodb-native#4022 wrote the wait for `drain`. It goes when
 * `test/store/connections/lost-connections.test.ts` fails, because a command of the driver alone ends.
 */
export function failWaitsOfLostConnections(): void {
  if (failsWaits) return;
  failsWaits = true;
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

interface DriverPool {
  poolState: string;
  minPoolSizeTimer?: NodeJS.Timeout;
  ensureMinPoolSize(): void;
}

/** Without a minimum there is nothing to open, and a checkout closes a connection that is too old by itself. */
const LOOK_MS = 10_000;

let looksRarely = false;

/**
 * Patches MongoDB's driver (7.8.0 and 7.9.0). Each of its pools looks ten times a second whether it has its least number of
 * connections, which is 0 here: half of the CPU time of an idle process. The driver reads the period from its options,
 * but rejects the option (`minPoolSizeCheckFrequencyMS`, for the driver's own tests: mongodb/node-mongodb-native#3429). An attempt
 * to have no timer without a minimum was mongodb/node-mongodb-native#2245. With the patch a pool looks each 10 s. It goes when
 * `test/store/connections/idle-pools.test.ts` fails, because the option is accepted.
 */
export function lookAfterPoolsRarely(): void {
  if (looksRarely) return;
  looksRarely = true;
  // The driver that mongoose uses.
  const require = createRequire(createRequire(import.meta.url).resolve("mongoose"));
  const { ConnectionPool } = require("mongodb/lib/cmap/connection_pool.js") as {
    ConnectionPool: { prototype: DriverPool };
  };
  const { ensureMinPoolSize } = ConnectionPool.prototype;
  ConnectionPool.prototype.ensureMinPoolSize = function () {
    ensureMinPoolSize.call(this);
    // One that is paused or closed has no timer.
    if (this.poolState !== "ready") return;
    clearTimeout(this.minPoolSizeTimer);
    this.minPoolSizeTimer = setTimeout(() => this.ensureMinPoolSize(), LOOK_MS);
  };
}
