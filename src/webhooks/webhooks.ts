import type { QueryFilter } from "mongoose";
import { accountsOfSubscriptions } from "../accounts/access.ts";
import { checkCount } from "../accounts/limits.ts";
import type { BodyFormat } from "../lib/body-formats.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
import { Deliveries, NO_FURTHER_ATTEMPT } from "../models/delivery.ts";
import { Issues } from "../models/issue.ts";
import { AutoSubscriptions, Subscriptions } from "../models/subscription.ts";
import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Queued, Stores, Working } from "../platform.ts";
import { enqueueDrain } from "../queues/deliveries.ts";
import { transaction } from "../store/connections/mongo.ts";
import { countDrop } from "../store/events/drops.ts";
import { orderOf } from "../store/order.ts";
import { countCacheOf, mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { deleteRevised, nextRevision, ofRevision, type Revised, writeRevision } from "../store/revisions.ts";
import { checkWebhookUrl, lostSecrets } from "./check-webhook-url.ts";
import { encryptHeaders } from "./custom-headers.ts";
import { checkDeliverySettings, type NewFields, newFields } from "./delivery-settings.ts";
import { filterOfWebhooks } from "./find.ts";
import { presentWebhook, signingOf } from "./present.ts";
import type { UpdatedWebhook, WebhookChanges, WebhookFilter, WebhookView, WebhookWithKey } from "./schema.ts";
import { givenOrNewKey, type NewKey, rotated, shownKey, storedKey, type WantedKey } from "./signing-keys.ts";

export interface NewWebhook extends NewFields, WantedKey {
  url: string;
  headers?: Record<string, string> | undefined;
  format?: BodyFormat | undefined;
}

/**
 * Creates a webhook and returns it with its signing key, the given one or a new one, which can never be shown again. Throws
 * `invalid` for the url, the key, a header or a setting, and `limit-reached` (docs/rest-api.md#webhooks).
 */
export async function createWebhook(platform: Stores, input: NewWebhook): Promise<WebhookWithKey> {
  checkDeliverySettings(platform.config, input);
  await checkCount(platform, input.ownerId, "webhooks");
  const key = givenOrNewKey(input);
  const now = platform.clock();
  const webhook: Webhook = {
    _id: newId("wh", now),
    ...newFields(input, now),
    url: checkWebhookUrl(platform.config, "query", input.url),
    ...(input.format !== undefined && { format: input.format }),
    signing_keys: [storedKey(key, platform.secrets.seal(key.secret))],
    ...encryptHeaders(platform.secrets, input.headers ?? {}),
  };
  await Webhooks(platform.mongo).insertOne(webhook);
  return { ...presentWebhook(platform, webhook), signing_key: shownKey(key) };
}

/**
 * Changes the given fields of a webhook and returns it. Enabling it clears `disabled_reason` and `failing_since`; a
 * different url clears `failing_since`, and that of another server the headers that are not given again. Pending deliveries go to the url that is set when each attempt is made. Throws
 * `invalid` for the url or a header, and `not-found` if the webhook has been deleted since.
 */
export async function updateWebhook(
  platform: Stores & Queued,
  webhook: Webhook,
  changes: WebhookChanges,
): Promise<UpdatedWebhook> {
  const { url, name, description, active, headers, ...deliverySettings } = changes;
  checkDeliverySettings(platform.config, deliverySettings);
  const isMoved = url !== undefined && url !== webhook.url;
  const given = { url, secrets: headers === undefined ? [] : ["headers"] };
  // Whether it has any now or not: another request may be about to set them.
  const isLost = lostSecrets({ url: webhook.url, secrets: ["headers"] }, given).length > 0;
  const set: Partial<Webhook> = {
    ...(url !== undefined && { url: checkWebhookUrl(platform.config, "body", url) }),
    ...(name !== undefined && { name: name || null }),
    ...(description !== undefined && { description: description || null }),
    ...(active !== undefined && { active, disabled_reason: null }),
    ...deliverySettings,
    ...((headers !== undefined || isLost) && encryptHeaders(platform.secrets, headers ?? {})),
    ...((active || isMoved) && { failing_since_ms: null }),
    updated_at: unixSeconds(platform.clock()),
  };
  const { _id } = webhook;
  const updated = await writeRevision(webhook, {
    what: "webhook",
    namesIn: () => Object.keys(changes),
    read: () => Webhooks(platform.mongo).findById(_id).lean<Webhook | null>(),
    write: (filter, revision) =>
      Webhooks(platform.mongo)
        .findOneAndUpdate({ _id, ...filter }, { $set: { ...set, ...revision } }, { returnDocument: "after" })
        .lean<Webhook | null>(),
  });
  await platform.routing.invalidate([webhook.owner_id]);
  // Deliveries that wait for their order must now be sent on their own, or the other way round.
  if (changes.ordered !== undefined) await enqueueDrain(platform, webhook);
  const secrets_removed = isLost && webhook.header_names.length > 0 ? ["headers"] : [];
  return { ...presentWebhook(platform, updated), secrets_removed };
}

/**
 * Replaces the signing key of a webhook by the given one, or by a new one, of the same kind unless another is wanted, and returns
 * it; it can never be shown again. The old key also signs for 24 more hours. A given key that signs already stays, so that the request may be repeated. Throws `invalid`
 * for the key, and `conflict` if another request replaced the key in between, because the key returned by one of the two
 * requests would never sign.
 */
export async function rotateSigningKey(
  platform: Stores,
  webhook: Webhook,
  { signing, signing_key }: WantedKey = {},
): Promise<WebhookWithKey> {
  const kind = signing ?? (signing_key === undefined ? signingOf(webhook) : "hmac");
  const key = givenOrNewKey({ signing: kind, signing_key });
  const shown = { signing_key: shownKey(key) };
  if (hasKey(platform, webhook, key.secret)) return { ...presentWebhook(platform, webhook), ...shown };
  const updated =
    (await replaceKey(platform, webhook, key)) ?? (await replaceResealed(platform, webhook, key));
  if (!updated) throw new AppError("conflict", "the signing key was changed by another request");
  await platform.routing.invalidate([webhook.owner_id]);
  return { ...presentWebhook(platform, updated), ...shown };
}

/** Whether a webhook signs with this key, which is not one that was replaced. */
const hasKey = ({ secrets }: Stores, { signing_keys: [current] }: Webhook, key: string): boolean =>
  current !== undefined && secrets.open(current.sealed) === key;

/** Returns the webhook with the new key; null if it was changed since it was read, or its key is stored in another form. */
async function replaceKey(
  { mongo, secrets, clock }: Stores,
  webhook: Webhook,
  key: NewKey,
): Promise<Webhook | null> {
  const { _id, signing_keys: keys } = webhook;
  const now = clock();
  const signing_keys = rotated(keys, storedKey(key, secrets.seal(key.secret)), now);
  return await Webhooks(mongo)
    .findOneAndUpdate(
      { _id, "signing_keys.0.sealed": keys[0]?.sealed ?? null, ...ofRevision(webhook) },
      {
        $set: { signing_keys, updated_at: unixSeconds(now), ...nextRevision(webhook, ["signing_key"]) },
      },
      { returnDocument: "after" },
    )
    .lean<Webhook | null>();
}

/**
 * As `replaceKey` for the webhook as it is now, if the key is the same: another field was changed, or `headwater secrets reseal`
 * encrypted it again. Otherwise null.
 */
async function replaceResealed(platform: Stores, before: Webhook, key: NewKey): Promise<Webhook | null> {
  const { mongo, secrets } = platform;
  const webhook = await Webhooks(mongo).findById(before._id).lean<Webhook | null>();
  const [current] = webhook?.signing_keys ?? [];
  const [known] = before.signing_keys;
  if (!webhook || !current || !known || secrets.open(current.sealed) !== secrets.open(known.sealed))
    return null;
  return await replaceKey(platform, webhook, key);
}

/** Returns a page of an account's webhooks, newest first unless they are sorted, without its destinations, whose ids come before. */
export async function listWebhooks(
  platform: Stores,
  ownerId: string,
  { q, state, sort }: WebhookFilter,
  page: PageRequest,
): Promise<Page<WebhookView>> {
  const webhooks = { owner_id: ownerId, _id: { $gte: "wh_" }, ...filterOfWebhooks({ q, state }) };
  const found = await pageOf(Webhooks(platform.mongo), webhooks, page, {
    countCache: countCacheOf(platform, ownerId, "webhooks", { q, state }),
    order: orderOf(ownerId, sort),
  });
  return mapPage(found, webhook => presentWebhook(platform, webhook));
}

/** A webhook or destination that is to be deleted, as a request has read it. */
export type DeletedListener = Pick<Webhook, "_id" | "owner_id"> & Revised;

/**
 * Deletes a webhook, its subscriptions and its issues in one transaction, then cancels its pending deliveries and releases its permits. There may be very
 * many of those, so they are not part of the transaction: a delivery that a crash leaves pending is cancelled when it
 * is due. Returns false, and deletes nothing, if `ifStill` does not hold any more. Throws `precondition-failed` as `deleteRevised` does.
 */
export async function deleteWebhook(
  platform: Working,
  webhook: DeletedListener,
  ifStill?: QueryFilter<Webhook>,
): Promise<boolean> {
  const { _id: webhookId, owner_id } = webhook;
  const subscriptions = await Subscriptions(platform.mongo)
    .find({ listener_id: webhookId }, { owner_id: 1, emitter_id: 1 })
    .lean();
  const accounts = await accountsOfSubscriptions(platform, subscriptions);
  const isDeleted = await transaction(platform.mongo, async session => {
    const wasThere = await deleteRevised(Webhooks(platform.mongo), webhook, {
      session,
      ...(ifStill && { ifStill }),
    });
    if (!wasThere && ifStill) return false;
    await Subscriptions(platform.mongo).deleteMany({ listener_id: webhookId }, { session });
    await AutoSubscriptions(platform.mongo).deleteMany({ listener_id: webhookId }, { session });
    await Issues(platform.mongo).deleteMany({ listener_id: webhookId }, { session });
    return true;
  });
  if (!isDeleted) return false;
  await platform.routing.invalidate([owner_id, ...accounts]);
  await cancelDeliveries(platform, webhookId);
  await platform.permits.delete(webhookId);
  return true;
}

/** Cancels and counts every pending delivery to a webhook; their jobs then have nothing to do. */
async function cancelDeliveries(platform: Working, webhookId: string): Promise<void> {
  const pending = await Deliveries(platform.mongo).aggregate<{ _id: string; count: number }>([
    { $match: { webhook_id: webhookId, state: "pending" } },
    { $group: { _id: "$emitter_id", count: { $sum: 1 } } },
  ]);
  await Deliveries(platform.mongo).updateMany(
    { webhook_id: webhookId, state: "pending" },
    {
      $set: {
        state: "cancelled",
        reason: "webhook-deleted",
        ...NO_FURTHER_ATTEMPT,
        finished_at_ms: platform.clock(),
      },
    },
  );
  for (const { _id: emitterId, count } of pending) {
    platform.metrics.count("deliveries_total", { outcome: "cancelled" }, count);
    await countDrop(platform, emitterId, "listener-absent", count);
  }
}
