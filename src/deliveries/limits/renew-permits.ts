import type { PermitDeps } from "./permits.ts";

/** One process's permits at one webhook. */
type Held = [webhookId: string, names: string[]];

/**
 * How long a cached permit outlives its process. A killed process may have held all of them, and until they expire nothing
 * goes to that webhook; a living process renews in time. Milliseconds.
 */
export const heldPermitTtlMs = (platform: PermitDeps) => platform.config.stalledAfterMs * 2;

/** Renews what `held` returns until the returned function is called. */
export function renewPermits(platform: PermitDeps, held: () => Held[]): () => void {
  const ttlMs = heldPermitTtlMs(platform);
  const renew = async () => {
    for (const [webhookId, names] of held()) {
      // While Redis is away no other process acquires them either; those that expired are acquired again.
      if (names.length > 0) await platform.permits.renew(webhookId, names, ttlMs).catch(() => undefined);
    }
  };
  const timer = setInterval(() => void renew(), ttlMs / 4);
  timer.unref();
  return () => clearInterval(timer);
}
