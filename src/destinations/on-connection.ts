import { EgressError } from "../egress/egress-error.ts";
import type { Kept } from "../egress/lasting-connections.ts";
import type { Destination } from "../models/webhook.ts";
import type { SendDeps } from "./message.ts";

/**
 * Does `work` with the destination's connection, within the time of an attempt. A connection over which nothing came in that
 * time is closed: what waits behind would wait in vain. Throws EgressError `timeout`, and the signal's reason if it aborts.
 */
export async function onConnection<Connection extends Kept, Result>(
  platform: Pick<SendDeps, "lastingConnections" | "config">,
  {
    destination,
    signal,
  }: { destination: Pick<Destination, "_id" | "settings" | "url">; signal: AbortSignal | undefined },
  open: () => Promise<Connection>,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const { timeoutMs } = platform.config.deliveries;
  const { _id: id, settings: version, url } = destination;
  const used = platform.lastingConnections.use({ id, version }, open, work);
  // It is awaited no longer after a time-out or an abort.
  used.catch(() => undefined);
  let stop: (() => void) | undefined;
  const stopped = new Promise<never>((_, reject) => {
    const onAbort = () => reject(signal?.reason);
    const timer = setTimeout(() => {
      reject(new EgressError("timeout", `${new URL(url).host} did not respond within ${timeoutMs} ms`));
      platform.lastingConnections.drop(id);
    }, timeoutMs);
    stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
  });
  try {
    return await Promise.race([used, stopped]);
  } finally {
    stop?.();
  }
}
