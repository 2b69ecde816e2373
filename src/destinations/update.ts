import { invalidField, notFound } from "../lib/errors.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { type Destination, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { enqueueDrain } from "../queues/enqueue-drain.ts";
import { KIND_NAMES, KINDS } from "./kinds.ts";
import { presentDestination } from "./present.ts";
import type { DestinationChanges, DestinationView } from "./schema.ts";
import { openSettings, sealSettings } from "./settings.ts";

type Deps = Pick<Platform, "mongo" | "clock" | "routing" | "secrets" | "config" | "queues">;

/**
 * Changes the given fields of a destination and returns it. Of its settings those that are given; any of them clears
 * `failing_since`, as enabling it does, which clears `disabled_reason` too. Throws `invalid` for settings of another kind or
 * wrong ones, and `not-found` if the destination has been deleted since.
 */
export async function updateDestination(
  platform: Deps,
  destination: Destination,
  changes: DestinationChanges,
): Promise<DestinationView> {
  const { name, description, active, max_in_flight, rate_limit_per_second, ordered } = changes;
  const settings = await changedSettings(platform, destination, changes);
  const set: Partial<Destination> = {
    ...settings,
    ...(name !== undefined && { name: name || null }),
    ...(description !== undefined && { description: description || null }),
    ...(active !== undefined && { active, disabled_reason: null }),
    ...(max_in_flight !== undefined && { max_in_flight }),
    ...(rate_limit_per_second !== undefined && { rate_limit_per_second }),
    ...(ordered !== undefined && { ordered }),
    ...((active || settings) && { failing_since_ms: null }),
    updated_at: unixSeconds(platform.clock()),
  };
  const updated = await Webhooks(platform.mongo)
    .findOneAndUpdate({ _id: destination._id }, { $set: set }, { returnDocument: "after" })
    .lean<Destination | null>();
  if (!updated) throw notFound("destination");
  await platform.routing.invalidate([destination.owner_id]);
  // Deliveries that wait for their order must now be sent on their own, or the other way round.
  if (ordered !== undefined) await enqueueDrain(platform, destination, "order", 0);
  return presentDestination(platform, updated);
}

/** Returns the fields of a destination that store its settings with those that are given; undefined if none are. */
async function changedSettings(
  platform: Deps,
  destination: Destination,
  changes: DestinationChanges,
): Promise<Pick<Destination, "url" | "settings"> | undefined> {
  const { kind, owner_id: ownerId } = destination;
  const other = KIND_NAMES.find(name => name !== kind && changes[name] !== undefined);
  if (other) throw invalidField("body", other, `a destination of kind ${kind} has no such settings`);
  const given = changes[kind];
  if (given === undefined) return undefined;
  const stored = openSettings<Record<string, unknown>>(platform.secrets, destination);
  const isMoved = "url" in given && given.url !== stored.url;
  const kept = isMoved ? without(stored, KINDS[kind].secrets) : stored;
  const merged = { ...kept, ...given };
  const { url, settings } = await KINDS[kind].check(platform, merged, { ownerId, path: kind });
  return { url, settings: sealSettings(platform.secrets, settings, kind) };
}

const without = (settings: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)));
