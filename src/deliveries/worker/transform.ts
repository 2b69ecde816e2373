import { functionErrorText, openCallFunction } from "../../functions/call-function.ts";
import { openFindFunction } from "../../functions/find-function.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { eventMs } from "../../lib/ids.ts";
import { type TransformedPayload, TransformedPayloads } from "../../models/delivery.ts";
import { Subscriptions } from "../../models/subscription.ts";
import type { Calling, Stores } from "../../platform.ts";
import { insertMissing } from "../../store/connections/mongo.ts";
import type { DispatchedEvent, DispatchListener } from "../dispatch/create.ts";

/** When a function is called again that had no turn in time. Milliseconds. */
export const FUNCTION_LATER_MS = 1500;

/** A delivery whose event goes through a function before it is sent. */
export interface ToTransform {
  deliveryId: string;
  event: DispatchedEvent;
  listener: DispatchListener;
  /** JSON of the event. */
  body: string;
  /** Null: only what an earlier attempt has stored counts, since the subscription has no function any more. */
  functionHash: string | null;
}

/** What is sent. `later`: the function had no turn, so nothing has failed, and the attempt comes again. */
export type Transformed =
  | { kind: "send"; body: string }
  | { kind: "dropped" }
  | { kind: "failed"; error: string }
  | { kind: "later" };

/**
 * Returns what the function of one subscription makes of the events of its deliveries, in their order. What a delivery once got
 * is stored, so that each of its attempts sends the same bytes; `mayBeStored` is false for those of which no attempt was begun.
 */
export type Transform = (
  deliveries: ToTransform[],
  options: { mayBeStored: boolean; signal?: AbortSignal | undefined },
) => Promise<Transformed[]>;

/** Opens what transforms events in one process; nothing is started before the first function is met. */
export function openTransform(platform: Calling): Transform {
  const findFunction = openFindFunction(platform);
  const callFunction = openCallFunction(platform);

  /** Many events in one call. */
  async function transformAll(group: ToTransform[], signal?: AbortSignal): Promise<Transformed[]> {
    const [{ functionHash, listener }] = group as [ToTransform];
    // Its function was taken away, and the event never got one.
    if (functionHash === null) return group.map(({ body }) => ({ kind: "send", body }));
    const bundle = await findFunction(functionHash);
    if (!bundle) return group.map(() => ({ kind: "failed", error: "function: it is no longer stored" }));
    const { ownerId, subscriptionId, webhookId } = listener;
    const outcomes = await callFunction({
      key: `function-${ownerId}-${functionHash}`,
      bundle,
      ownerId,
      inputs: group.map(({ body, event }) => ({
        event: JSON.parse(body),
        meta: {
          event_id: event.event_id,
          emitter_id: event.emitter_id,
          event_name: event.name,
          subscription_id: subscriptionId,
          listener_id: webhookId,
          ts: eventMs(event.event_id),
        },
      })),
      signal,
    });
    const errors = outcomes.flatMap((outcome, i) =>
      outcome.kind === "failed" ? [{ ...outcome, eventId: (group[i] as ToTransform).event.event_id }] : [],
    );
    const last = errors.at(-1);
    if (last) {
      const { error, logs, eventId: event_id } = last;
      await Subscriptions(platform.mongo).updateOne(
        { _id: subscriptionId, function_hash: functionHash },
        {
          $inc: { function_errors: errors.length },
          $set: { last_function_error: { ...error, event_id, at_ms: platform.clock(), logs } },
        },
      );
    }
    return outcomes.map((outcome): Transformed => {
      if (outcome.kind === "event") return { kind: "send", body: JSON.stringify(outcome.event) };
      if (outcome.kind === "failed") return { kind: "failed", error: functionErrorText(outcome.error) };
      return { kind: outcome.kind === "dropped" ? "dropped" : "later" };
    });
  }

  return async (deliveries, { mayBeStored, signal }) => {
    const stored = mayBeStored ? await findStored(platform, deliveries) : new Map<string, string>();
    const open = deliveries.filter(({ deliveryId }) => !stored.has(deliveryId));
    const transformed = open.length === 0 ? [] : await transformAll(open, signal);
    const kept = await store(platform, open, transformed);
    failpoint("function-results-stored");
    const results = new Map(open.map(({ deliveryId }, i) => [deliveryId, transformed[i] as Transformed]));
    return deliveries.map(({ deliveryId }) => {
      const body = stored.get(deliveryId) ?? kept.get(deliveryId);
      return body === undefined ? (results.get(deliveryId) as Transformed) : { kind: "send", body };
    });
  };
}

async function findStored({ mongo }: Stores, deliveries: ToTransform[]): Promise<Map<string, string>> {
  const found = await TransformedPayloads(mongo)
    .find({ _id: { $in: deliveries.map(({ deliveryId }) => deliveryId) } }, { body: 1 })
    .lean();
  return new Map(found.map(({ _id, body }) => [_id, body]));
}

/** Stores what is to be sent, before it is; returns what another process stored first, which is sent in its place. */
async function store(
  platform: Stores,
  group: ToTransform[],
  transformed: Transformed[],
): Promise<Map<string, string>> {
  const rows = group.flatMap(({ deliveryId, event, functionHash }, i): TransformedPayload[] => {
    const result = transformed[i];
    if (functionHash === null || result?.kind !== "send") return [];
    return [
      { _id: deliveryId, emit_id: event.id, body: result.body, created_at: new Date(platform.clock()) },
    ];
  });
  if (rows.length === 0) return new Map();
  const existing = await insertMissing(TransformedPayloads(platform.mongo), rows);
  if (existing.size === 0) return new Map();
  const lost = group.filter(({ deliveryId }) =>
    rows.some((row, i) => existing.has(i) && row._id === deliveryId),
  );
  return await findStored(platform, lost);
}
