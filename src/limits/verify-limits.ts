import { defineLimits, KB } from "./limit.ts";

/** Bounds of how requests for a source are verified (docs/verify.md). */
export const VERIFY_LIMITS = defineLimits({
  verifySecrets: {
    value: 3,
    unit: "count",
    per: "source",
    what: "secrets by which its requests are verified, any of which may match",
    beyond: "400 `invalid`",
  },
  verifySecretChars: {
    value: 4 * KB,
    unit: "characters",
    per: "value",
    what: "secret by which requests are verified",
    beyond: "400 `invalid`",
  },
  verifyTextChars: {
    value: 300,
    unit: "characters",
    per: "value",
    what: "text of a verification, such as what is signed",
    beyond: "400 `invalid`",
  },
  verifyReadBytes: {
    value: 64 * KB,
    unit: "bytes",
    per: "request",
    what: "body in which a signature or a challenge is looked for, before the request is verified",
    beyond: "rejected as a request without a signature",
  },
  arrivedIds: {
    value: 5000,
    unit: "count",
    per: "source",
    what: "ids of requests, of the last 24 hours, that a source with `drop_repeats` remembers",
    beyond: "the oldest is forgotten, and its repeat starts a run",
  },
  rejectionsKept: {
    value: 20,
    unit: "count",
    per: "source",
    what: "requests that were not verified, of which time, reason and names of headers are shown",
    beyond: "the oldest is left out, and is still counted",
  },
  rejectionsKeptMs: {
    value: 7 * 86_400_000,
    unit: "ms",
    per: "source",
    what: "how long they and their counts are kept after the last of them",
    beyond: "they are deleted",
  },
  rejectingMs: {
    value: 15 * 60_000,
    unit: "ms",
    per: "source",
    what: "time in which every request is rejected until `source.rejecting` is raised",
    beyond: "no other alert is raised until a request is verified",
  },
  challengeChars: {
    value: KB,
    unit: "characters",
    per: "request",
    what: "value of a challenge that is sent back",
    beyond: "the request is not a challenge",
  },
});
