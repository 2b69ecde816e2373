/** Why a request is rejected, and what its owner is told; never what was expected. */
export const REJECT_REASONS = {
  "no-secret": "the source waits for its secret",
  "no-signature": "the request has no signature at the place where the rule looks for it",
  doubled: "the signature, or a value that it depends on, was sent more than once",
  malformed: "the signature has another prefix, encoding or form",
  missing: "a value that is signed is absent from the request",
  mismatch: "the signature fits none of the secrets",
  "no-key":
    "the public key that the request names is not among those that its sender publishes, or they could not be fetched",
  "no-timestamp": "the request has no time, or one of another form",
  stale: "the signature is right, and older than the tolerance",
  early: "the signature is right, and its time is later than now by more than the tolerance",
  claims: "the token is right, and its claims are not: another issuer, or it has expired",
  "body-hash": "the hash that is signed is not that of the body",
} as const;

export type RejectReason = keyof typeof REJECT_REASONS;
