import { Shares } from "../lib/shares.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** What requests for sources hold of this process at a time (docs/limits.md). */
export class IngressShares {
  /** Those whose body is being read, or that wait for the component's response. */
  readonly requests = new Shares({
    perAccount: LIMITS.requestsInProgress.value,
    what: "requests in progress at endpoints",
  });
  /** What has arrived of their bodies, until their runs wait. */
  readonly bytes = new Shares({
    perAccount: LIMITS.ingressBytesOfAccount.value,
    total: LIMITS.ingressBytes.value,
    what: "bytes of request bodies",
  });
}
