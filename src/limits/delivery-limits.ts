import { defineLimits } from "./limit.ts";

/** Bounds of deliveries to webhooks. */
export const DELIVERY_LIMITS = defineLimits({
  retryJobMs: {
    value: 120_000,
    unit: "ms",
    per: "value",
    what: "how far away the retry of a delivery may be to have a job in Redis",
    beyond: "it waits in MongoDB, and is enqueued up to `SWEEP_EVERY` after it is due",
  },
});
