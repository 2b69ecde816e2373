import type { Static } from "typebox";
import { isAccountId } from "../../alerts/raise.ts";
import { requestState } from "../../http/request-log.ts";
import { type Access, accepted, type PathParams, routeFor } from "../../http/route.ts";
import { hopsOfRequest } from "../../lib/hops.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { Stores, Working } from "../../platform.ts";
import type { Emitter } from "../../subscriptions/match.ts";
import { inboundTrace } from "../../tracing/inbound.ts";
import { traceField } from "../../tracing/trace-context.ts";
import { findEmitters } from "../find.ts";
import { publishEvents } from "./publish.ts";
import { PublishBody, Published } from "./schema.ts";

const route = routeFor<Working>();

interface PublishRoute<Path extends string> {
  path: Path;
  id: string;
  tag: string;
  summary: string;
  access: Access<Working, Emitter>;
  example: { params: PathParams<Path>; body: Static<typeof PublishBody> };
}

/** Returns a route that publishes events as an emitter (docs/rest-api.md#publish). */
export function publishRoute<const Path extends string>({ example, ...spec }: PublishRoute<Path>) {
  return route({
    method: "POST",
    ...spec,
    keyAccess: "publish",
    // An event on its way changes nothing that the account keeps.
    audit: null,
    description:
      "One event, or a batch of up to 1,000 in `events`, of at most 5 MB. All of it is accepted, or nothing. What was " +
      "accepted is not lost, whichever process is killed. An `id` that was published before, as the same emitter, is " +
      "the same event: the response is the same, and it is delivered once.",
    body: PublishBody,
    maxBodyBytes: LIMITS.publishBodyBytes.value,
    // The events of a day, the bytes that wait and the account's turns.
    ownBounds: { advice: `send up to ${LIMITS.publishBatch.value} events in one request, in \`events\`` },
    requiresOneOf: ["event", "events"],
    response: accepted(202, Published),
    errors: ["unavailable"],
    example: { ...example, response: { emit_ids: ["order-17"] } },
    handler: async ({ deps, resource, body, bodyText, ctx, caller }) => {
      const key = ctx.get("idempotency-key");
      const { published, trace } = await publishEvents(deps, resource, {
        body,
        text: bodyText,
        repeatedAs: key === "" ? undefined : `${caller.keyId}\n${key}`,
        inbound: inboundTrace(deps, ctx.headers),
        ...hopsOfRequest(ctx.headers),
      });
      if (trace !== undefined) requestState(ctx).ids = { emitter_id: resource.id, ...traceField(trace) };
      return published;
    },
  });
}

/**
 * Returns a source or workflow of one of these owners, otherwise null (docs/design.md#guarantee-6). From the routing cache, which is
 * as current as the look-up of the request's API key.
 */
export async function findOwnEmitter(
  platform: Stores,
  id: string,
  owners: string[],
): Promise<Emitter | null> {
  if (isAccountId(id)) return null;
  const emitter = (await findEmitters(platform, [id])).get(id);
  return emitter && !emitter.isHidden && owners.includes(emitter.owner_id) ? emitter : null;
}
