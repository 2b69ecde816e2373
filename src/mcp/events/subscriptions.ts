import { lineOf } from "../../alerts/raise.ts";
import { checkUrl } from "../../egress/check-url.ts";
import type { Scope } from "../../http/authorize.ts";
import { AppError } from "../../lib/errors.ts";
import { bareHost } from "../../lib/hosts.ts";
import { hashedId } from "../../lib/ids.ts";
import { unixSeconds } from "../../lib/time.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { MCP_IDS, type McpListener, Webhooks } from "../../models/webhook.ts";
import type { Calling, Stores, Working } from "../../platform.ts";
import { isDuplicateKey } from "../../store/connections/mongo.ts";
import { subscribe } from "../../subscriptions/subscribe.ts";
import { checkPublicHost } from "../../webhooks/check-webhook-url.ts";
import { newFields } from "../../webhooks/delivery-settings.ts";
import { rotated, storedKey } from "../../webhooks/signing-keys.ts";
import { deleteWebhook } from "../../webhooks/webhooks.ts";
import { RpcError } from "../protocol.ts";
import { type Challenged, challenge, VERIFIED_MS } from "./challenge.ts";
import { asInvalidParams, type Wanted } from "./read-wanted.ts";

/** Who subscribes: a user, with an API key, for an account. */
export interface Subscribing {
  userId: string;
  keyId: string;
  /** What the agent is called: by its client, or else by the name of its key. */
  clientName: string | null;
  scope: Scope;
}

export interface Granted {
  listener: McpListener;
  /** As it was before it was refreshed; null for a new one. */
  before: McpListener | null;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const TTL = { least: 5 * MINUTE_MS, standard: DAY_MS, most: 7 * DAY_MS };
/** An agent is to be notified soon or not at all; what it has missed it finds in the lists. */
const DELIVERY = { retry_schedule: ["5s", "30s", "2m", "10m"], timeout_seconds: 10 };
/** Requests at the same moment may each find what the other has changed. */
const TRIES = 5;
const NAME_CHARS = 128;

/** The subscription's id: what it is known by, hashed, so that the same request finds it and concurrent ones make one. */
export const subscriptionIdOf = (
  { userId, scope }: Pick<Subscribing, "userId" | "scope">,
  { url, name, arguments: given }: Wanted,
): string => hashedId("ms", userId, scope.owner, url, name, given);

/** Returns how long a subscription is granted for: what was asked for, between a minimum and a maximum. */
export function ttlMsOf(asked: unknown): number {
  if (asked === null) return TTL.most;
  if (typeof asked !== "number" || !Number.isFinite(asked)) return TTL.standard;
  return Math.min(Math.max(asked, TTL.least), TTL.most);
}

/**
 * Subscribes an agent, or refreshes its subscription, which replaces its secret (the old one signs too for a day) and enables it if
 * it was disabled. A callback that has not responded to a challenge of this user for a day is asked first. Throws
 * InvalidParams, CallbackEndpointError and ResourceExhausted.
 */
export async function grant(
  platform: Working & Calling,
  subscribing: Subscribing,
  { wanted, secret, ttlMs }: { wanted: Wanted; secret: string; ttlMs: number },
): Promise<Granted> {
  checkCallback(platform, wanted.url);
  const id = subscriptionIdOf(subscribing, wanted);
  const known = await find(platform, id);
  if (!known) await checkCounts(platform, subscribing);
  const verified_at_ms = await verify(platform, subscribing, {
    id,
    url: wanted.url,
    secret,
    keyId: subscribing.keyId,
  });
  const granted = await store(platform, subscribing, { id, wanted, secret, ttlMs, verified_at_ms });
  try {
    // Of a refresh too: it may have been deleted by itself, or a crash came before it was made.
    const { emitterId, channel: eventName, filter } = wanted;
    const { owner, owners } = subscribing.scope;
    const subscriber = { owner, owners, userId: subscribing.userId };
    await subscribe(platform, subscriber, {
      emitterId,
      listenerId: id,
      eventName,
      filter,
      isListenerKnown: true,
    });
  } catch (error) {
    if (granted.before === null)
      await deleteWebhook(platform, { _id: id, owner_id: subscribing.scope.owner });
    throw asExhausted(asInvalidParams(error));
  }
  await platform.routing.invalidate([subscribing.scope.owner]);
  return granted;
}

/** Ends the subscription with this id and returns it; null if there is none. */
export async function end(platform: Working, id: string): Promise<McpListener | null> {
  const listener = await find(platform, id);
  if (listener) await deleteWebhook(platform, listener);
  return listener;
}

const find = ({ mongo }: Stores, id: string) => Webhooks(mongo).findById(id).lean<McpListener | null>();

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

/** Throws InvalidParams unless a callback is https, or http on this machine where the operator allows that. */
function checkCallback({ config }: Stores, url: string): void {
  const field = { in: "body", path: "delivery.url" } as const;
  try {
    const { protocol, hostname } = checkUrl(url, field);
    checkPublicHost(config, hostname, field);
    if (protocol === "https:" || LOOPBACK.test(bareHost(hostname))) return;
  } catch (error) {
    throw asInvalidParams(error);
  }
  throw new RpcError("invalidParams", "delivery.url: must start with https://");
}

/** Throws ResourceExhausted. Without a lock, as other counts: requests at the same moment may exceed a bound by as many as they are. */
async function checkCounts({ mongo }: Stores, { keyId, scope }: Subscribing): Promise<void> {
  const ofAccount = { owner_id: scope.owner, _id: MCP_IDS };
  const bounds = [
    { limit: "subscriptions_per_account", max: LIMITS.mcpSubscriptions.value, filter: ofAccount },
    {
      limit: "subscriptions_per_key",
      max: LIMITS.mcpSubscriptionsPerKey.value,
      filter: { ...ofAccount, "mcp.key_id": keyId },
    },
  ];
  for (const { limit, max, filter } of bounds) {
    if ((await Webhooks(mongo).countDocuments(filter, { limit: max })) < max) continue;
    throw new RpcError("resourceExhausted", `there are ${max} subscriptions already`, {
      data: { limit, max },
    });
  }
}

/** A bound of the plan, on subscriptions of any kind. */
const asExhausted = (error: unknown): unknown =>
  error instanceof AppError && error.code === "limit-reached"
    ? new RpcError("resourceExhausted", error.message, { data: { limit: "subscriptions" } })
    : error;

/** Returns when the callback has last responded to a challenge of this user for this account: now, if that was too long ago. */
async function verify(
  platform: Working & Calling,
  { userId, scope }: Subscribing,
  challenged: Omit<Challenged, "isKnown">,
): Promise<number> {
  const [verified] = await Webhooks(platform.mongo)
    .find({ owner_id: scope.owner, _id: MCP_IDS, user_id: userId, url: challenged.url }, { mcp: 1 })
    .sort({ "mcp.verified_at_ms": -1 })
    .limit(1)
    .lean<Pick<McpListener, "mcp">[]>();
  const atMs = verified?.mcp.verified_at_ms ?? 0;
  if (platform.clock() - atMs < VERIFIED_MS) return atMs;
  await challenge(platform, { ...challenged, isKnown: verified !== undefined });
  return platform.clock();
}

interface ToStore {
  id: string;
  wanted: Wanted;
  secret: string;
  ttlMs: number;
  verified_at_ms: number;
}

async function store(platform: Working, subscribing: Subscribing, given: ToStore): Promise<Granted> {
  for (let tries = 0; tries < TRIES; tries++) {
    const known = await find(platform, given.id);
    const listener = known
      ? await refresh(platform, known, subscribing, given)
      : await insert(platform, subscribing, given);
    if (listener) return { listener, before: known };
  }
  throw new AppError("conflict", "the subscription was changed by other requests at the same time");
}

const termsOf = (
  platform: Stores,
  { keyId, clientName }: Subscribing,
  { wanted, ttlMs, verified_at_ms }: ToStore,
) => ({
  key_id: keyId,
  client_name: clientName,
  event_type: wanted.name,
  arguments: wanted.arguments,
  expires_at_ms: platform.clock() + ttlMs,
  verified_at_ms,
});

/** Of the callback nothing: path and query may hold a secret of their own. */
const nameOf = ({ clientName }: Subscribing, { about }: Wanted): string =>
  lineOf(clientName === null ? `agent: ${about}` : `agent ${clientName}: ${about}`, NAME_CHARS);

/** Returns null if another request has stored it in between. */
async function insert(
  platform: Working,
  subscribing: Subscribing,
  given: ToStore,
): Promise<McpListener | null> {
  const { secrets, mongo } = platform;
  const { url } = given.wanted;
  const about = {
    ownerId: subscribing.scope.owner,
    userId: subscribing.userId,
    name: nameOf(subscribing, given.wanted),
  };
  const listener: McpListener = {
    _id: given.id,
    ...newFields({ ...about, ...DELIVERY }, platform.clock()),
    kind: "mcp",
    url,
    signing_keys: [storedKey({ secret: given.secret }, secrets.seal(given.secret))],
    headers: null,
    header_names: [],
    mcp: termsOf(platform, subscribing, given),
  };
  try {
    await Webhooks(mongo).insertOne(listener);
    return listener;
  } catch (error) {
    if (isDuplicateKey(error)) return null;
    throw error;
  }
}

/** Returns null if another request has changed or ended it in between. */
async function refresh(
  platform: Working,
  { _id, signing_keys: keys, active }: McpListener,
  subscribing: Subscribing,
  given: ToStore,
): Promise<McpListener | null> {
  const { secrets, mongo } = platform;
  const now = platform.clock();
  const [current] = keys;
  const isSame = current !== undefined && secrets.open(current.sealed) === given.secret;
  const key = { secret: given.secret };
  return await Webhooks(mongo)
    .findOneAndUpdate(
      { _id, active, "signing_keys.0.sealed": current?.sealed ?? null },
      {
        $set: {
          mcp: termsOf(platform, subscribing, given),
          ...(!isSame && { signing_keys: rotated(keys, storedKey(key, secrets.seal(given.secret)), now) }),
          name: nameOf(subscribing, given.wanted),
          // One that fails goes on to: hosts refresh without having repaired anything.
          ...(!active && { active: true, disabled_reason: null, failing_since_ms: null }),
          updated_at: unixSeconds(now),
        },
      },
      { returnDocument: "after" },
    )
    .lean<McpListener | null>();
}
