import type { KeyObject } from "node:crypto";
import { clientAddress } from "../http/client-address.ts";
import { requestState } from "../http/request-log.ts";
import type { Stores } from "../platform.ts";
import { RequestValues } from "../verify/request-values.ts";
import { soughtKey } from "../verify/sought-key.ts";
import type { Arrival, Gate } from "./arrival.ts";
import type { Rejecting } from "./rejections.ts";
import { beingSetUp, confirmed, notConfirmed } from "./response.ts";
import { type Admission, admit, type Verifying } from "./verification.ts";

interface Gated {
  /** What the requests are for. */
  subject: Rejecting;
  verification: Verifying;
  /** True while hooks of it are being called. */
  isBeingSetUp: boolean;
}

/** Returns what decides about requests by how they are verified, and notes what it rejects. */
export function gateOf(
  { clock }: Stores,
  { ctx, notes, senders }: Arrival,
  { subject, verification, isBeingSetUp }: Gated,
): Gate {
  const account = subject.owner_id;
  const decide = (values: RequestValues, published: KeyObject | null): Admission | Promise<Admission> => {
    const admission = admit(verification, values, clock(), published);
    if (admission.outcome === "confirming") {
      notes.verified(subject);
      return senders.confirm(account, admission.url).then(isConfirmed => {
        return responded(isConfirmed ? confirmed() : notConfirmed());
      });
    }
    const { rejection: reason } = admission;
    if (reason !== null && verification.isOfHook && isBeingSetUp) return responded(beingSetUp());
    if (reason !== null) {
      const { request } = values;
      requestState(ctx).error = `not verified: ${reason}`;
      notes.rejected({ subject, verification, request, reason, clientIp: clientAddress(ctx) });
    } else if (admission.outcome === "admitted") notes.verified(subject);
    return admission;
  };
  return request => {
    const values = new RequestValues(request);
    const sought = soughtKey(verification, values);
    if (!sought) return decide(values, null);
    return senders.key(account, sought).then(published => decide(values, published));
  };
}

const responded = (response: ReturnType<typeof confirmed>): Admission => ({
  outcome: "responded",
  response,
  rejection: null,
});
