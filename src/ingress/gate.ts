import { clientAddress } from "../http/client-address.ts";
import { requestState } from "../http/request-log.ts";
import type { Stores } from "../platform.ts";
import type { Arrival, Gate } from "./arrival.ts";
import type { Rejecting } from "./rejections.ts";
import { beingSetUp } from "./response.ts";
import { admit, type Verifying } from "./verification.ts";

interface Gated {
  /** What the requests are for. */
  subject: Rejecting;
  verification: Verifying;
  /** True while hooks of it are being called. */
  isBeingSetUp: boolean;
}

/** Returns what decides about requests by how they are verified, and notes what it rejects. */
export const gateOf =
  ({ clock }: Stores, { ctx, notes }: Arrival, { subject, verification, isBeingSetUp }: Gated): Gate =>
  request => {
    const admission = admit(verification, request, clock());
    const { rejection: reason } = admission;
    if (reason !== null && verification.isOfHook && isBeingSetUp) {
      return { outcome: "responded", response: beingSetUp(), rejection: null };
    }
    if (reason !== null) {
      requestState(ctx).error = `not verified: ${reason}`;
      notes.rejected({ subject, verification, request, reason, clientIp: clientAddress(ctx) });
    } else if (admission.outcome === "admitted") notes.verified(subject);
    return admission;
  };
