import { emitAll, UNCERTAIN } from "../../events/emit.ts";
import { type Alert, Alerts } from "../../models/alert.ts";
import type { Platform } from "../../platform.ts";
import { repairAll } from "../../store/repair-each.ts";
import type { SweepBatch } from "../../store/sweep-turns.ts";
import { emissionOf } from "./compose.ts";
import { noteForMail } from "./note-for-mail.ts";

/** Alerts handled together. */
const BATCH = 100;

/**
 * Makes events of the alerts that were raised, in their order, and notes them for the mails of their accounts' people. Each is
 * both before it is no longer pending; repeated after a crash, it is the same event, and at most once in a mail that is not
 * sent yet.
 */
export function beginAlertSweep(platform: Platform): SweepBatch {
  const startedAt = new Date(platform.clock());
  return async cursor => {
    const pending = await Alerts(platform.mongo)
      .find({ pending_since: { $lte: startedAt }, ...(cursor !== null && after(cursor)) })
      .sort({ pending_since: 1, _id: 1 })
      .limit(BATCH)
      .lean();
    await repairAll(platform, pending, {
      step: "alerts",
      idOf: ({ _id }) => _id,
      repair: alerts => handle(platform, alerts),
    });
    const last = pending.at(-1);
    // Nothing was wrong.
    return { repaired: 0, next: last && pending.length === BATCH ? cursorOf(last) : null };
  };
}

const cursorOf = ({ _id, pending_since }: Alert): string => `${pending_since?.getTime()} ${_id}`;

function after(cursor: string) {
  const [ms, id = ""] = cursor.split(" ");
  const since = new Date(Number(ms));
  return { $or: [{ pending_since: { $gt: since } }, { pending_since: since, _id: { $gt: id } }] };
}

/** Returns how many are no longer pending; one whose account can't be read yet comes again. */
async function handle(platform: Platform, alerts: Alert[]): Promise<number> {
  const outcomes = await emitAll(platform, alerts.map(emissionOf));
  const done = alerts.filter((_, i) => outcomes[i] !== UNCERTAIN);
  if (platform.config.mail) for (const alert of done) await noteForMail(platform, alert);
  await Alerts(platform.mongo).updateMany(
    { _id: { $in: done.map(({ _id }) => _id) } },
    { $unset: { pending_since: 1 } },
  );
  return done.length;
}
