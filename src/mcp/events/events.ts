import { recordChange } from "../../audit/record.ts";
import { requireKeyAccess, scopeOf } from "../../http/authorize.ts";
import type { CallRoute } from "../../http/call-route.ts";
import { clientAddress } from "../../http/client-address.ts";
import { AppError } from "../../lib/errors.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import type { McpListener } from "../../models/webhook.ts";
import type { Calling as Platform, Working } from "../../platform.ts";
import { isSigningKey, SIGNING_KEY_RULE } from "../../webhooks/signing-keys.ts";
import { clientNameOf } from "../client-info.ts";
import { RpcError } from "../protocol.ts";
import type { Envelope } from "../result.ts";
import type { Calling, FindRoute } from "../tools.ts";
import { deliveryStatusOf } from "./delivery-status.ts";
import { type ShownEventType, shownEventTypes } from "./event-types.ts";
import { objectIn, readWanted, textIn } from "./read-wanted.ts";
import { end, grant, type Subscribing, subscriptionIdOf, ttlMsOf } from "./subscriptions.ts";

type Params = Record<string, unknown>;

/** The Events extension: what notifies an agent. */
export interface Events {
  list: (calling: Calling) => Promise<{ events: ShownEventType[] }>;
  subscribe: (params: Params, calling: Calling) => Promise<object>;
  unsubscribe: (params: Params, calling: Calling) => Promise<object>;
}

/**
 * Returns the methods of the Events extension. Who may list them may list sources; to subscribe makes the server send data to an
 * address, so it takes what the route that creates subscriptions takes: a key with full access, and more than a viewer's role.
 */
export function eventsOf<Deps>(
  platform: Working & Platform,
  find: FindRoute<Deps>,
  callRoute: CallRoute<Deps>,
): Events {
  const routes = { list: find("listMySources"), subscribe: find("createSubscription") };

  const subscribingOf = ({ caller, orgId }: Calling): Omit<Subscribing, "clientName"> => {
    try {
      requireKeyAccess(routes.subscribe, caller, {});
      const scope = scopeOf(routes.subscribe, caller, { params: {}, orgId });
      return { userId: caller.userId, keyId: caller.keyId, scope };
    } catch (error) {
      if (!(error instanceof AppError && error.code === "forbidden")) throw error;
      throw new RpcError("forbidden", error.message, { data: { reason: "access" } });
    }
  };

  /** Not for a refresh, of which hosts send one each day. */
  const audit = ({ ctx, caller }: Calling, what: "created" | "deleted", listener: McpListener) =>
    recordChange(platform, {
      ...{ action: `mcp_subscription.${what}`, caller, ownerId: listener.owner_id, fields: [], isDone: true },
      thing: { id: listener._id, name: listener.name },
      address: clientAddress(ctx),
      userAgent: ctx.get("user-agent"),
    });

  return {
    async list(calling) {
      const { data } = (await callRoute(routes.list, {
        ...calling,
        params: {},
        fields: { limit: LIMITS.mcpEventTypes.value, active: true, exclude: "configured_props" },
      })) as Envelope;
      return { events: shownEventTypes(data as { id: string; name: string }[]) };
    },

    async subscribe(params, calling) {
      const subscribing = subscribingOf(calling);
      const delivery = objectIn(params, "delivery");
      const { mode } = delivery;
      if (mode !== "webhook") {
        const message = "params.delivery.mode must be webhook";
        throw new RpcError("unsupported", message, {
          data: { feature: "delivery.mode", value: mode ?? null },
        });
      }
      const secret = textIn(delivery, "secret", "params.delivery.secret");
      if (!isSigningKey(secret)) {
        throw new RpcError("invalidParams", `params.delivery.secret ${SIGNING_KEY_RULE}`);
      }
      const wanted = await readWanted(platform, params, subscribing.scope);
      const clientName = await clientNameOf(platform, subscribing.keyId, params);
      const { listener, before } = await grant(
        platform,
        { ...subscribing, clientName },
        { wanted, secret, ttlMs: ttlMsOf(params.ttlMs) },
      );
      const isNew = before === null;
      if (isNew) await audit(calling, "created", listener);
      return {
        id: listener._id,
        refreshBefore: new Date(listener.mcp.expires_at_ms).toISOString(),
        // Events are delivered from now on: no place in the past is known, and none is kept.
        cursor: null,
        truncated: isNew && typeof params.cursor === "string",
        ...(before && { deliveryStatus: await deliveryStatusOf(platform, before) }),
      };
    },

    /** What is not there is not subscribed: whether it has ended by itself before makes no difference to a client. */
    async unsubscribe(params, calling) {
      const subscribing = subscribingOf(calling);
      const wanted = await readWanted(platform, params, subscribing.scope);
      const ended = await end(platform, subscriptionIdOf(subscribing, wanted));
      if (ended) await audit(calling, "deleted", ended);
      return {};
    },
  };
}
