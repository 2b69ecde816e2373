import { type Deployer, ownDeployer } from "../components/deployer.ts";
import { fieldsOfUses, type Uses, withUses } from "../components/mark-used.ts";
import { invalidField, notFound } from "../lib/errors.ts";
import { unixSeconds } from "../lib/unix-seconds.ts";
import { type Destination, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { enqueueDrain } from "../queues/enqueue-drain.ts";
import { lostSecrets } from "../webhooks/lost-secrets.ts";
import type { CheckDeps } from "./kind.ts";
import { KIND_NAMES, KINDS } from "./kinds.ts";
import { presentDestination } from "./present.ts";
import type { DestinationChanges, UpdatedDestination } from "./schema.ts";
import { openSettings, sealSettings } from "./settings.ts";

type Deps = CheckDeps & Pick<Platform, "secrets" | "queues">;

/**
 * Changes the given fields of a destination and returns it. Of its settings those that are given; any of them clears
 * `failing_since`, as enabling it does, which clears `disabled_reason` too. Throws `invalid` for settings of another kind or
 * wrong ones, and `not-found` if the destination has been deleted since.
 */
export async function updateDestination(
  platform: Deps,
  destination: Destination,
  changes: DestinationChanges,
  deployer = ownDeployer({ ownerId: destination.owner_id, userId: destination.user_id }),
): Promise<UpdatedDestination> {
  const { name, description, active, max_in_flight, rate_limit_per_second, ordered } = changes;
  const changed = await changedSettings(platform, deployer, destination, changes);
  const set: Partial<Destination> = {
    ...changed?.fields,
    ...(name !== undefined && { name: name || null }),
    ...(description !== undefined && { description: description || null }),
    ...(active !== undefined && { active, disabled_reason: null }),
    ...(max_in_flight !== undefined && { max_in_flight }),
    ...(rate_limit_per_second !== undefined && { rate_limit_per_second }),
    ...(ordered !== undefined && { ordered }),
    ...((active || changed) && { failing_since_ms: null }),
    updated_at: unixSeconds(platform.clock()),
  };
  const updated = await withUses(platform, changed?.uses, options =>
    Webhooks(platform.mongo)
      .findOneAndUpdate({ _id: destination._id }, { $set: set }, { returnDocument: "after", ...options })
      .lean<Destination | null>(),
  );
  if (!updated) throw notFound("destination");
  await platform.routing.invalidate([destination.owner_id]);
  // Deliveries that wait for their order must now be sent on their own, or the other way round.
  if (ordered !== undefined) await enqueueDrain(platform, destination);
  return { ...presentDestination(platform, updated), secrets_removed: changed?.secretsRemoved ?? [] };
}

/** Returns the fields of a destination that store its settings with those that are given; undefined if none are. */
async function changedSettings(
  platform: Deps,
  deployer: Deployer,
  destination: Destination,
  changes: DestinationChanges,
): Promise<{ fields: Partial<Destination>; uses: Uses | undefined; secretsRemoved: string[] } | undefined> {
  const { kind, owner_id: owner } = destination;
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
  const about = { deployer: { ...deployer, owner }, path: kind, before };
  const checked = await check(platform, keepsItself ? given : { ...kept, ...given }, about);
  const { url, settings, uses } = checked;
  const sealed = sealSettings(platform.secrets, settings, kind);
  const isLost = (name: string) => ((settings as Record<string, unknown>)[name] ?? null) === null;
  const secretsRemoved = checked.secretsRemoved ?? lost.filter(isLost);
  return { fields: { url, settings: sealed, ...fieldsOfUses(uses) }, uses, secretsRemoved };
}

const without = (settings: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)));
