import { invalidField } from "../lib/errors.ts";
import { firstIdAt } from "../lib/ids.ts";
import { AuditEntries, type AuditEntry } from "../models/audit-entry.ts";
import { usernamesOf } from "../models/user.ts";
import type { Stores } from "../platform.ts";
import { countCacheOf, type Page, type PageRequest, pageOf } from "../store/page.ts";
import type { AuditEntryView, AuditFilter } from "./schema.ts";
import { findStillThere } from "./still-there.ts";

/** Returns a page of an account's audit log, the newest entry first. Throws `invalid` for a time that ends before it begins. */
export async function listEntries(
  platform: Stores,
  ownerId: string,
  filter: AuditFilter,
  page: PageRequest,
): Promise<Page<AuditEntryView>> {
  const { action, actor_id, thing_id, since, until } = filter;
  if (until !== undefined && since !== undefined && until < since) {
    throw invalidField("query", "until", "must not be before since");
  }
  const between = {
    ...(since !== undefined && { $gte: firstIdAt("aud", since * 1000) }),
    ...(until !== undefined && { $lt: firstIdAt("aud", (until + 1) * 1000) }),
  };
  const wanted = {
    owner_id: ownerId,
    ...(action !== undefined && { action }),
    ...(actor_id !== undefined && { actor_ids: actor_id }),
    ...(thing_id !== undefined && { "thing.id": thing_id }),
    ...((since !== undefined || until !== undefined) && { _id: between }),
  };
  const found = await pageOf(AuditEntries(platform.mongo), wanted, page, {
    countCache: countCacheOf(platform, ownerId, "audit-log", filter),
  });
  return { ...found, rows: await presentEntries(platform, found.rows) };
}

async function presentEntries({ mongo }: Stores, entries: AuditEntry[]): Promise<AuditEntryView[]> {
  const userIds = [...new Set(entries.flatMap(({ actor }) => actor.user_id ?? []))];
  const names = await usernamesOf(mongo, userIds);
  const existing = await findStillThere(
    mongo,
    entries.flatMap(({ action, thing }) => (thing ? { kind: kindOf(action), id: thing.id } : [])),
  );
  return entries.map(entry => presentEntry(entry, { names, existing }));
}

const kindOf = (action: string): string => action.split(".", 1)[0] ?? "";

/** What is read beside the entries of a page, which say how things were. */
interface Present {
  /** Of users, by their ids. */
  names: ReadonlyMap<string, string>;
  /** Ids of things that are still there. */
  existing: ReadonlySet<string>;
}

const presentEntry = (
  { _id, at_ms, action, actor, thing, fields, outcome, reason, address, user_agent }: AuditEntry,
  { names, existing }: Present,
): AuditEntryView => ({
  id: _id,
  at_ms,
  action,
  actor: { ...actor, user_name: names.get(actor.user_id ?? "") ?? null },
  thing: thing && { kind: kindOf(action), ...thing, exists: existing.has(thing.id) },
  fields,
  outcome,
  reason,
  address,
  user_agent,
});
