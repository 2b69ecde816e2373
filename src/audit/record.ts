import type { ClientSession } from "mongoose";
import type { Change, ChangedThing } from "../http/changes.ts";
import type { Caller } from "../http/route.ts";
import { newId } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type AuditActor, AuditEntries, type AuditEntry } from "../models/audit-entry.ts";
import type { Stores } from "../platform.ts";

const USER_AGENT_CHARS = 200;
const REASON_CHARS = 500;

/**
 * Writes what a request has changed to the audit log of its account, before the request is responded to: changes are rare, and an
 * entry that waited for a batch would be lost with its process. One that can't be written is logged whole, and the request
 * succeeds all the same, since its change was made. Never throws.
 */
export async function recordChange(platform: Stores, change: Change): Promise<void> {
  const { caller, userAgent } = change;
  const told = {
    ...{ action: change.action, thing: change.thing, fields: change.fields },
    actor: actorOf(caller),
    actor_ids: [caller.userId, caller.keyId],
    outcome: change.isDone ? ("done" as const) : ("accepted" as const),
    address: change.address,
    user_agent: userAgent === "" ? null : userAgent.slice(0, USER_AGENT_CHARS),
    reason: null,
  };
  for (const owner_id of [change.ownerId, ...(change.alsoOf ?? [])]) {
    await writeOrLog(platform, newEntry(platform, { owner_id, ...told }));
  }
}

const NO_ONE = { user_id: null, id: null, name: null, prefix: null, signed_in_with: null };

function actorOf({ userId, keyId, key, sessionId, signedInWith }: Caller): AuditActor {
  const who = { ...NO_ONE, user_id: userId, id: keyId };
  return sessionId === undefined
    ? { ...who, kind: "api_key", name: key?.name ?? null, prefix: key?.prefix ?? null }
    : { ...who, kind: "session", signed_in_with: signedInWith ?? null };
}

/** What was done without a request of the account's people. */
interface OwnAction {
  /** By Headwater itself, unless the operator did it. */
  by?: "headwater" | "operator";
  ownerId: string;
  action: string;
  thing: ChangedThing | null;
  reason?: string;
}

const ownEntry = (
  platform: Stores,
  { by = "headwater", ownerId, action, thing, reason }: OwnAction,
): AuditEntry =>
  newEntry(platform, {
    ...{ owner_id: ownerId, action, thing, fields: [], outcome: "done" },
    actor: { ...NO_ONE, kind: by },
    actor_ids: [by],
    reason: reason?.slice(0, REASON_CHARS) ?? null,
    ...{ address: null, user_agent: null },
  });

/** As `recordChange`, of what Headwater or the operator did. Never throws. */
export const recordOwnAction = (platform: Stores, action: OwnAction): Promise<void> =>
  writeOrLog(platform, ownEntry(platform, action));

/** As `recordOwnAction`, together with what is written in this session: neither is without the other. Throws `unavailable`. */
export async function recordOwnActionIn(
  session: ClientSession,
  platform: Stores,
  action: OwnAction,
): Promise<void> {
  await AuditEntries(platform.mongo).insertOne(ownEntry(platform, action), { session });
}

type Told = Omit<AuditEntry, "_id" | "at_ms" | "expires_at">;

function newEntry({ clock }: Stores, told: Told): AuditEntry {
  const at_ms = clock();
  return {
    _id: newId("aud", at_ms),
    at_ms,
    ...told,
    expires_at: new Date(at_ms + LIMITS.auditKept.value),
  };
}

async function writeOrLog(platform: Stores, entry: AuditEntry): Promise<void> {
  try {
    await AuditEntries(platform.mongo).insertOne(entry);
    trimNowAndThen(platform, entry.owner_id);
  } catch (error) {
    platform.log.error({ err: error, entry }, "an entry of the audit log can't be written");
  }
}

/** Of so many entries of an account, one has the log trimmed: it grows by about as many beyond its bound. */
const TRIMMED_EVERY = 100;

/** Not awaited: a trim that is lost is made up for by the next. */
function trimNowAndThen(platform: Stores, ownerId: string): void {
  if (Math.random() * TRIMMED_EVERY >= 1) return;
  trimEntries(platform, ownerId, LIMITS.auditEntries.value).catch(() => undefined);
}

/** Deletes an account's oldest entries, so that it has at most so many. */
export async function trimEntries({ mongo }: Stores, ownerId: string, most: number): Promise<void> {
  const [excess] = await AuditEntries(mongo)
    .find({ owner_id: ownerId }, { _id: 1 })
    .sort({ _id: -1 })
    .skip(most)
    .limit(1)
    .lean();
  if (excess) await AuditEntries(mongo).deleteMany({ owner_id: ownerId, _id: { $lte: excess._id } });
}
