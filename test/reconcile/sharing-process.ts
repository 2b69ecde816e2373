import { setTimeout as delay } from "node:timers/promises";
import { readConfig } from "../../src/config.ts";
import { openPlatform } from "../../src/platform.ts";
import { Reconciler } from "../../src/reconcile/reconcile.ts";
import type { SweepStep } from "../../src/store/sweeps/sweep-turns.ts";

/** How many steps there are, the last of which is divided into two parts. */
const STEPS = 9;
const BATCH_MS = 50;

const platform = await openPlatform(readConfig(process.env), "runs");

/** Notes in Redis, in one order for all processes, what this one begins and ends. */
const note = (what: "begin" | "end", unit: string) =>
  platform.redis.rpush(`${platform.config.redisPrefix}:notes`, `${what} ${unit} ${platform.processId}`);

/** Has work without end. */
const steps = Array.from({ length: STEPS }, (_, n): SweepStep => {
  const name = `step-${n}`;
  return {
    name,
    parts: () => (n === STEPS - 1 ? 2 : 1),
    begin:
      ({ index }) =>
      async cursor => {
        await note("begin", `${name}.${index}`);
        await delay(BATCH_MS);
        await note("end", `${name}.${index}`);
        return { repaired: 1, next: String(Number(cursor ?? 0) + 1) };
      },
  };
});

const reconciler = new Reconciler(platform, steps);
reconciler.start();
console.log(JSON.stringify({ msg: "ready", process_id: platform.processId }));
process.once("SIGTERM", async () => {
  await reconciler.stop();
  await platform.close();
  process.exit(0);
});
