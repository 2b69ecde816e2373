import { createRequire } from "node:module";

interface DriverPool {
  poolState: string;
  minPoolSizeTimer?: NodeJS.Timeout;
  ensureMinPoolSize(): void;
}

/** Without a minimum there is nothing to open, and a checkout closes a connection that is too old by itself. */
const LOOK_MS = 10_000;

let isPatched = false;

/**
 * Patches MongoDB's driver (7.8.0 and 7.9.0). Each of its pools looks ten times a second whether it has its least number of
 * connections, which is 0 here: half of the CPU time of an idle process. The driver reads the period from its options,
 * but rejects the option (`minPoolSizeCheckFrequencyMS`, for the driver's own tests: mongodb/node-mongodb-native#3429). An attempt
 * to have no timer without a minimum was mongodb/node-mongodb-native#2245. With the patch a pool looks each 10 s. It goes when
 * `test/store/idle-pools.test.ts` fails, because the option is accepted.
 */
export function lookAfterPoolsRarely(): void {
  if (isPatched) return;
  isPatched = true;
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
