import { type Static, Type } from "typebox";
import { ownConnection } from "../connections/connections.ts";
import { data, routeFor } from "../http/route.ts";
import { OrNull, UnixMs } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Working } from "../platform.ts";
import { ownSource } from "../sources/routes.ts";
import { readRejections } from "../store/rejections.ts";
import { REJECT_REASONS, type RejectReason } from "../verify/reasons.ts";

const route = routeFor<Working>();

const Rejection = Type.Object({
  at_ms: UnixMs("When it arrived."),
  reason: Type.String(),
  message: Type.String({ description: "The reason in words." }),
  hint: OrNull(Type.String(), "What would have made it right, if that is known."),
  method: Type.String(),
  client_ip: Type.String(),
  headers: Type.Array(Type.String(), { description: "Names of its headers, without their values." }),
  body_bytes: Type.Integer(),
  reported: Type.Boolean({ description: "True if it was let through all the same (`mode: report`)." }),
});

/** What a source, or a connection, has rejected of the last days (docs/verify.md#what-was-rejected). */
const Rejections = Type.Object(
  {
    counts: Type.Record(Type.String(), Type.Integer(), { description: "How many there were, by reason." }),
    since_ms: OrNull(
      UnixMs("When the first of them was since a request was verified."),
      "Null if none was rejected since.",
    ),
    verified_at_ms: OrNull(UnixMs("When a request was verified last, to the minute.")),
    last: Type.Array(Rejection, {
      description: `The last ${LIMITS.rejectionsKept.value}, the newest first; a second or two late.`,
    }),
  },
  { title: "Rejections" },
);

const DESCRIPTION =
  "Counts by reason, and the last of them, with a hint where a secret is nearly right. Neither the values of headers nor bodies " +
  "are kept, nor what was expected. All of it is deleted seven days after the last.";

const response: Static<typeof Rejections> = {
  counts: { mismatch: 2 },
  since_ms: 1_700_000_000_000,
  verified_at_ms: null,
  last: [
    {
      at_ms: 1_700_000_000_000,
      reason: "mismatch",
      message: REJECT_REASONS.mismatch,
      hint: "it matches with the secret without the blanks around it",
      method: "POST",
      client_ip: "192.0.2.1",
      headers: ["content-type", "x-hub-signature-256"],
      body_bytes: 2,
      reported: false,
    },
  ],
};

export const rejectionRoutes = [
  route({
    method: "GET",
    path: "/sources/{id}/rejections",
    id: "getRejections",
    tag: "Sources",
    summary: "Which requests for a source were not verified",
    description: DESCRIPTION,
    access: ownSource,
    response: data(200, Rejections),
    example: { params: { id: "dc_0CjB9uPc7RfT1xLs" }, response },
    handler: ({ deps, resource }) => shown(deps, resource._id),
  }),
  route({
    method: "GET",
    path: "/connections/{id}/rejections",
    id: "getRejectionsOfConnection",
    tag: "Connections",
    summary: "Which requests at the endpoint of a connection were not verified",
    description: DESCRIPTION,
    access: ownConnection,
    response: data(200, Rejections),
    example: { params: { id: "apn_0CjBAGh8mTq4ZsWe" }, response },
    handler: ({ deps, resource }) => shown(deps, resource._id),
  }),
];

async function shown(platform: Working, id: string): Promise<Static<typeof Rejections>> {
  const { counts, sinceMs, verifiedAtMs, last } = await readRejections(platform, id);
  return {
    counts,
    since_ms: sinceMs,
    verified_at_ms: verifiedAtMs,
    last: last.map(one => ({ ...one, message: messageOf(one.reason) })),
  };
}

/** A newer release may have noted a reason that this one does not know. */
const messageOf = (reason: string): string => REJECT_REASONS[reason as RejectReason] ?? reason;
