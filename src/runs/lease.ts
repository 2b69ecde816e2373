import type { Platform } from "../platform.ts";
import { LeaseLost } from "./record.ts";

/** Renews the lease while the line is worked off; the runs under way are aborted when lease or job lock are lost. */
export function keepLease(
  platform: Pick<Platform, "runLine">,
  sourceId: string,
  token: string,
  leaseMs: number,
  outer: AbortSignal,
) {
  // A signal for each batch: listeners on one that lives as long as the line would pile up.
  let batch = new AbortController();
  let lost: unknown;
  const abort = (reason: unknown) => {
    lost ??= reason;
    batch.abort(lost);
  };
  const onOuter = () => abort(outer.reason);
  outer.addEventListener("abort", onOuter);
  const timer = setInterval(
    () => {
      platform.runLine.renew(sourceId, token, leaseMs).then(
        ours => {
          if (!ours) abort(new LeaseLost(sourceId));
        },
        // Redis is away: the version of the source's memory guards what these runs will write.
        () => undefined,
      );
    },
    Math.floor(leaseMs / 3),
  );
  return {
    nextSignal(): AbortSignal {
      batch = new AbortController();
      if (lost !== undefined) batch.abort(lost);
      return batch.signal;
    },
    stop() {
      clearInterval(timer);
      outer.removeEventListener("abort", onOuter);
    },
  };
}
