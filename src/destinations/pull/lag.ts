import { LRUCache } from "lru-cache";
import { raiseAlert } from "../../alerts/raise.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { NOTHING_PULLED } from "../../models/pulled-event.ts";
import type { Observed, Stores } from "../../platform.ts";
import { describeListener } from "../../webhooks/health.ts";
import type { Keeping } from "./keep.ts";

/** The last episode of each destination of which this process has raised the alert, or found it raised. */
const known = new LRUCache<string, number>({ max: 10_000 });

/**
 * Alerts the owner of a destination from which nothing was acknowledged for `LIMITS.pullLagMs` although events wait, once for each such
 * time. Called when a further event is kept, as a webhook's owner is alerted when a further attempt fails. Never throws: what can't
 * be raised now is raised with the next event.
 */
export async function alertOfLag(
  platform: Stores & Observed,
  { _id, owner_id, name, pull = NOTHING_PULLED }: Keeping,
): Promise<void> {
  const { last, acknowledged, waiting_since_ms: sinceMs } = pull;
  const isLate = last > acknowledged && platform.clock() - sinceMs >= LIMITS.pullLagMs.value;
  if (!isLate || known.get(_id) === sinceMs) return;
  try {
    const about = describeListener({ _id, name });
    await raiseAlert(platform, {
      ownerId: owner_id,
      type: "destination.lagging",
      subject: { id: _id, name },
      sinceMs,
      message: `nothing was pulled from ${about} since ${new Date(sinceMs).toISOString()}, and ${last - acknowledged} events wait`,
      details: { waiting: last - acknowledged, waiting_since_ms: sinceMs },
    });
    known.set(_id, sinceMs);
  } catch (error) {
    platform.log.warn({ err: error, webhook_id: _id }, "an alert of a pull that lags can't be raised yet");
  }
}
