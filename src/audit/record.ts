import type { ClientSession } from "mongoose";
import type { Change, ChangedThing } from "../http/changes.ts";
import type { Caller } from "../http/route.ts";
import { newId } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type AuditActor, AuditEntries, type AuditEntry } from "../models/audit-entry.ts";
import type { Stores } from "../platform.ts";

/** What an entry is written with: also by a command that connects to nothing but MongoDB. */
type Written = Pick<Stores, "mongo" | "clock" | "log">;

/** Whose audit log has what operators did: no account's, but that of the whole installation, which operators read. */
export const INSTALLATION = "installation";

const USER_AGENT_CHARS = 200;
const REASON_CHARS = 500;

/**
 * Writes what a request has changed to the audit log of its account, before the request is responded to: changes are rare, and an
 * entry that waited for a batch would be lost with its process. One that can't be written is logged whole, and the request
 * succeeds all the same, since its change was made. Never throws.
 */
export async function recordChange(platform: Written, change: Change): Promise<void> {
  const { caller, userAgent } = change;
  const told = {
    ...{ action: change.action, thing: change.thing, fields: change.fields },
    actor: actorOf(caller),
    actor_ids: [caller.userId, caller.keyId],
    outcome: change.isDone ? ("done" as const) : ("accepted" as const),
    address: change.address,
    user_agent: nameOfClient(userAgent),
    reason: null,
  };
  for (const owner_id of [change.ownerId, ...(change.alsoOf ?? [])]) {
    await writeOrLog(platform, newEntry(platform, { owner_id, ...told }));
  }
}

const nameOfClient = (userAgent: string): string | null =>
  userAgent === "" ? null : userAgent.slice(0, USER_AGENT_CHARS);

const NO_ONE = { user_id: null, id: null, name: null, prefix: null, signed_in_with: null };

function actorOf({ userId, keyId, key, sessionId, signedInWith }: Caller): AuditActor {
  const who = { ...NO_ONE, user_id: userId, id: keyId };
  return sessionId === undefined
    ? { ...who, kind: "api_key", name: key?.name ?? null, prefix: key?.prefix ?? null }
    : { ...who, kind: "session", signed_in_with: signedInWith ?? null };
}

/** What Headwater did by itself. */
interface OwnAction {
  ownerId: string;
  action: string;
  thing: ChangedThing | null;
  reason?: string;
}

const ownEntry = (platform: Written, { ownerId, action, thing, reason }: OwnAction): AuditEntry =>
  newEntry(platform, {
    ...{ owner_id: ownerId, action, thing, fields: [], outcome: "done" },
    actor: { ...NO_ONE, kind: "headwater" },
    actor_ids: ["headwater"],
    reason: reason?.slice(0, REASON_CHARS) ?? null,
    ...{ address: null, user_agent: null },
  });

/** As `recordChange`, of what Headwater did by itself. Never throws. */
export const recordOwnAction = (platform: Written, action: OwnAction): Promise<void> =>
  writeOrLog(platform, ownEntry(platform, action));

/** What the operator did: by the command line, or in the board of the queues. */
interface OperatorAction {
  action: string;
  thing: ChangedThing | null;
  /** The accounts that it concerns, whose people read it, too. */
  of?: readonly string[];
  /** Names of what was given, never values. */
  fields?: string[];
  /** Where a request came from; none for the command line. */
  client?: { address: string; userAgent: string };
}

/** As `recordChange`, of what the operator did: in the log of the installation, and in that of each account that it concerns. Never throws. */
export async function recordOfOperator(
  platform: Written,
  { action, thing, of = [], fields = [], client }: OperatorAction,
): Promise<void> {
  for (const owner_id of [INSTALLATION, ...of]) {
    const entry = newEntry(platform, {
      ...{ owner_id, action, thing, fields, outcome: "done" as const, reason: null },
      actor: { ...NO_ONE, kind: "operator" },
      actor_ids: ["operator"],
      address: client?.address ?? null,
      user_agent: nameOfClient(client?.userAgent ?? ""),
    });
    await writeOrLog(platform, entry);
  }
}

/** As `recordOwnAction`, together with what is written in this session: neither is without the other. Throws `unavailable`. */
export async function recordOwnActionIn(
  session: ClientSession,
  platform: Stores,
  action: OwnAction,
): Promise<void> {
  await AuditEntries(platform.mongo).insertOne(ownEntry(platform, action), { session });
}

type Told = Omit<AuditEntry, "_id" | "at_ms" | "expires_at">;

function newEntry({ clock }: Written, told: Told): AuditEntry {
  const at_ms = clock();
  return {
    _id: newId("aud", at_ms),
    at_ms,
    ...told,
    expires_at: new Date(at_ms + LIMITS.auditKept.value),
  };
}

async function writeOrLog(platform: Written, entry: AuditEntry): Promise<void> {
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
function trimNowAndThen(platform: Written, ownerId: string): void {
  if (Math.random() * TRIMMED_EVERY >= 1) return;
  trimEntries(platform, ownerId, LIMITS.auditEntries.value).catch(() => undefined);
}

/** Deletes an account's oldest entries, so that it has at most so many. */
export async function trimEntries(
  { mongo }: Pick<Written, "mongo">,
  ownerId: string,
  most: number,
): Promise<void> {
  const [excess] = await AuditEntries(mongo)
    .find({ owner_id: ownerId }, { _id: 1 })
    .sort({ _id: -1 })
    .skip(most)
    .limit(1)
    .lean();
  if (excess) await AuditEntries(mongo).deleteMany({ owner_id: ownerId, _id: { $lte: excess._id } });
}
