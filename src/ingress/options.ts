import type { Context } from "koa";
import { cachedAppRules } from "../connections/app-events.ts";
import type { Connection } from "../models/connection.ts";
import type { Source } from "../models/source.ts";
import type { Stores } from "../platform.ts";
import { verifyRequest } from "../verify/verify-request.ts";
import { signedRequest } from "./arrival.ts";
import { challengeResponse, type IngressResponse } from "./response.ts";
import { type Verifying, verificationOf, verificationOfConnection } from "./verification.ts";

interface Target {
  source: Source | null;
  connection: Connection | null;
}

/**
 * Returns the response to an OPTIONS request by which a sender asks whether it may send, if that is how the endpoint verifies
 * (docs/verify.md#a-scheme-of-your-own); null for one of a browser. Nothing runs in either case.
 */
export async function optionsResponse(
  platform: Stores,
  ctx: Context,
  target: Target,
): Promise<IngressResponse | null> {
  const verification = await verificationOfTarget(platform, target);
  if (!verification) return null;
  const verdict = verifyRequest(verification, signedRequest(platform, ctx, NO_BODY), platform.clock());
  return verdict.outcome === "challenge" ? challengeResponse(verdict.response) : null;
}

const NO_BODY = Buffer.alloc(0);

async function verificationOfTarget(
  platform: Stores,
  { source, connection }: Target,
): Promise<Verifying | null> {
  if (source) return verificationOf(platform, source);
  if (!connection) return null;
  return verificationOfConnection(platform, connection, await cachedAppRules(platform, connection.app));
}
