import { checkCount } from "../accounts/limits.ts";
import { fieldsOfUses, type Uses, withUses } from "../components/components.ts";
import { type Deployer, ownDeployer } from "../components/deployer.ts";
import { AppError, invalidField } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { unixSeconds } from "../lib/time.ts";
import { PulledEvents } from "../models/pulled-event.ts";
import { SourceMemories } from "../models/source.ts";
import {
  type Destination,
  type DestinationKind,
  isDestination,
  MCP_IDS,
  type Webhook,
  Webhooks,
} from "../models/webhook.ts";
import type { Calling, Outbound, Stores, Working } from "../platform.ts";
import { enqueueDrain } from "../queues/deliveries.ts";
import { orderOf } from "../store/order.ts";
import { countCacheOf, mapPage, type Page, type PageRequest, pageOf } from "../store/page.ts";
import { writeRevision } from "../store/revisions.ts";
import { lostSecrets } from "../webhooks/check-webhook-url.ts";
import { checkDeliverySettings, newFields } from "../webhooks/delivery-settings.ts";
import { filterOfWebhooks } from "../webhooks/find.ts";
import { presentWebhook } from "../webhooks/present.ts";
import type { WebhookFilter } from "../webhooks/schema.ts";
import { type DeletedListener, deleteWebhook } from "../webhooks/webhooks.ts";
import { openSettings, sealSettings } from "./kind.ts";
import { KIND_NAMES, KINDS } from "./kinds.ts";
import type {
  DestinationChanges,
  DestinationView,
  NewDestinationBody,
  UpdatedDestination,
} from "./schema.ts";

/** Returns a destination as its owner sees it: its settings without secrets. */
export function presentDestination(platform: Stores, destination: Destination): DestinationView {
  const { format, header_names, signing, public_key, ...shared } = presentWebhook(platform, destination);
  const { kind } = destination;
  return {
    ...shared,
    kind,
    [kind]: KINDS[kind].show(openSettings(platform.secrets, destination), destination),
  };
}

/** Returns a destination, not a webhook, of one of these owners, otherwise null (docs/design.md#guarantee-6). */
export async function findDestination(
  platform: Stores,
  id: string,
  owners: string[],
): Promise<Destination | null> {
  const found = await Webhooks(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean<Webhook | null>();
  return found && isDestination(found) ? found : null;
}

/** The access rule of routes whose path names a destination. */
export const ownDestination = {
  kind: "resource",
  what: "destination",
  isRevised: true,
  load: findDestination,
} as const;

/** Returns a page of an account's destinations, whose ids come before those of agents' subscriptions and of webhooks: newest first of each prefix, unless they are sorted. */
export async function listDestinations(
  platform: Stores,
  ownerId: string,
  { q, state, sort }: WebhookFilter,
  page: PageRequest,
): Promise<Page<DestinationView>> {
  const destinations = { owner_id: ownerId, _id: { $lt: MCP_IDS.$gt }, ...filterOfWebhooks({ q, state }) };
  const found = await pageOf(Webhooks(platform.mongo), destinations, page, {
    countCache: countCacheOf(platform, ownerId, "destinations", { q, state }),
    order: orderOf(ownerId, sort),
  });
  return mapPage(found, row => presentDestination(platform, row as Destination));
}

export interface NewDestination extends NewDestinationBody {
  ownerId: string;
  userId: string;
}

/**
 * Creates a destination of the kind whose settings are given and returns it, without secrets. Throws `invalid` unless exactly
 * one kind is given and its settings are right, and `limit-reached` (docs/rest-api.md#destinations).
 */
export async function createDestination(
  platform: Calling,
  input: NewDestination,
  deployer: Deployer = ownDeployer(input),
): Promise<DestinationView> {
  const kind = kindOf(input);
  checkDeliverySettings(platform.config, input, kind);
  await checkCount(platform, input.ownerId, "webhooks");
  const now = platform.clock();
  const _id = newId(KINDS[kind].prefix, now);
  const about = { id: _id, deployer, path: kind };
  const { url, settings, uses } = await KINDS[kind].check(platform, input[kind] ?? {}, about);
  const destination: Destination = {
    _id,
    ...newFields(input, now),
    kind,
    settings: sealSettings(platform.secrets, settings, kind),
    ...fieldsOfUses(uses),
    url,
    signing_keys: [],
    headers: null,
    header_names: [],
  };
  await withUses(platform, uses, options => Webhooks(platform.mongo).insertMany([destination], options));
  return presentDestination(platform, destination);
}

function kindOf(input: NewDestination): DestinationKind {
  const [kind, second] = KIND_NAMES.filter(name => input[name] !== undefined);
  if (kind === undefined) {
    const fields = KIND_NAMES.map(path => ({
      in: "body" as const,
      path,
      message: "one of these is required",
    }));
    throw new AppError("invalid", `one of ${KIND_NAMES.join(", ")} is required`, { fields });
  }
  if (second !== undefined)
    throw invalidField("body", second, `a destination of kind ${kind} has no such settings`);
  return kind;
}

/**
 * Changes the given fields of a destination and returns it. Of its settings those that are given; any of them clears
 * `failing_since`, as enabling it does, which clears `disabled_reason` too. Throws `invalid` for settings of another kind or
 * wrong ones, and `not-found` if the destination has been deleted since.
 */
export async function updateDestination(
  platform: Working & Calling,
  destination: Destination,
  changes: DestinationChanges,
  deployer = ownDeployer({ ownerId: destination.owner_id, userId: destination.user_id }),
): Promise<UpdatedDestination> {
  const { name, description, active, max_in_flight, rate_limit_per_second, ordered } = changes;
  const { retry_schedule, timeout_seconds } = changes;
  checkDeliverySettings(platform.config, changes, destination.kind);
  const changed = await changedSettings(platform, deployer, destination, changes);
  const set: Partial<Destination> = {
    ...changed?.fields,
    ...(name !== undefined && { name: name || null }),
    ...(description !== undefined && { description: description || null }),
    ...(active !== undefined && { active, disabled_reason: null }),
    ...(max_in_flight !== undefined && { max_in_flight }),
    ...(rate_limit_per_second !== undefined && { rate_limit_per_second }),
    ...(ordered !== undefined && { ordered }),
    ...(retry_schedule !== undefined && { retry_schedule }),
    ...(timeout_seconds !== undefined && { timeout_seconds }),
    ...((active || changed) && { failing_since_ms: null }),
    updated_at: unixSeconds(platform.clock()),
  };
  const { _id } = destination;
  const updated = await writeRevision(destination, {
    what: "destination",
    namesIn: () => Object.keys(changes),
    read: () => Webhooks(platform.mongo).findById(_id).lean<Destination | null>(),
    write: (filter, revision) =>
      withUses(platform, changed?.uses, options =>
        Webhooks(platform.mongo)
          .findOneAndUpdate(
            { _id, ...filter },
            { $set: { ...set, ...revision } },
            { returnDocument: "after", ...options },
          )
          .lean<Destination | null>(),
      ),
  });
  await platform.routing.invalidate([destination.owner_id]);
  // Deliveries that wait for their order must now be sent on their own, or the other way round.
  if (ordered !== undefined) await enqueueDrain(platform, destination);
  return { ...presentDestination(platform, updated), secrets_removed: changed?.secretsRemoved ?? [] };
}

/** Returns the fields of a destination that store its settings with those that are given; undefined if none are. */
async function changedSettings(
  platform: Working & Calling,
  deployer: Deployer,
  destination: Destination,
  changes: DestinationChanges,
): Promise<{ fields: Partial<Destination>; uses: Uses | undefined; secretsRemoved: string[] } | undefined> {
  const { _id: id, kind, owner_id: owner } = destination;
  const other = KIND_NAMES.find(name => name !== kind && changes[name] !== undefined);
  if (other) throw invalidField("body", other, `a destination of kind ${kind} has no such settings`);
  const given = changes[kind];
  if (given === undefined) return undefined;
  const before = openSettings<Record<string, unknown>>(platform.secrets, destination);
  const { secrets, keepsItself, check } = KINDS[kind];
  const lost = lostSecrets(
    { url: destination.url, secrets: secrets.filter(name => (before[name] ?? null) !== null) },
    { url: (given as { url?: string }).url, secrets: Object.keys(given) },
  );
  const kept = without(before, lost);
  const about = { id, deployer: { ...deployer, owner }, path: kind, before };
  const checked = await check(platform, keepsItself ? given : { ...kept, ...given }, about);
  const { url, settings, uses } = checked;
  const sealed = sealSettings(platform.secrets, settings, kind);
  const isLost = (name: string) => ((settings as Record<string, unknown>)[name] ?? null) === null;
  const secretsRemoved = checked.secretsRemoved ?? lost.filter(isLost);
  return { fields: { url, settings: sealed, ...fieldsOfUses(uses) }, uses, secretsRemoved };
}

const without = (settings: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)));

/**
 * Deletes a destination as `deleteWebhook` deletes a webhook, the db of an action, and what is kept to be pulled, and closes this process's connection to it. Those of other
 * processes, which are used no more, are closed when they have been idle for `LIMITS.destinationIdleMs`.
 */
export async function deleteDestination(
  platform: Outbound & Parameters<typeof deleteWebhook>[0],
  destination: DeletedListener,
): Promise<void> {
  await deleteWebhook(platform, destination);
  await SourceMemories(platform.mongo).deleteOne({ _id: destination._id });
  await PulledEvents(platform.mongo).deleteMany({ listener_id: destination._id });
  platform.lastingConnections.drop(destination._id);
}
