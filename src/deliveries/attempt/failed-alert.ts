import { LRUCache } from "lru-cache";
import { raiseAlert } from "../../alerts/raise.ts";
import { issueDetails, issueIdOf } from "../../issues/cause.ts";
import { groupBy } from "../../lib/lists.ts";
import type { Delivery } from "../../models/delivery.ts";
import { type Issue, Issues, UNRESOLVED } from "../../models/issue.ts";
import { type Webhook, Webhooks } from "../../models/webhook.ts";
import type { Observed, Stores } from "../../platform.ts";
import { describeListener } from "../../webhooks/health.ts";
import type { Attempted } from "./attempt.ts";

const HOUR_MS = 3_600_000;

/** What is known of an attempt that is to be recorded. */
interface Failed extends Pick<Attempted, "decision" | "cause"> {
  delivery: Pick<Delivery, "_id" | "webhook_id">;
}

/** Listeners and hours whose alert this process has raised, or found raised. */
const known = new LRUCache<string, true>({ max: 10_000 });

/**
 * Alerts the owners of deliveries for which no retry is left, once for each listener and hour. Called before these are recorded, so
 * that a process that is killed in between raises the same alert with the repeated attempt. Never throws: what can't be raised now
 * is raised with the next one.
 */
export async function alertOfExhausted(platform: Stores & Observed, attempted: Failed[]): Promise<void> {
  const now = platform.clock();
  const sinceMs = now - (now % HOUR_MS);
  const exhausted = attempted.filter(
    ({ decision }) => decision.kind === "failed" && decision.reason === "exhausted",
  );
  const keyOf = (listenerId: string) => `${listenerId} ${sinceMs}`;
  const byListener = groupBy(
    exhausted.filter(({ delivery }) => !known.has(keyOf(delivery.webhook_id))),
    ({ delivery }) => delivery.webhook_id,
  );
  if (byListener.size === 0) return;
  for (const listenerId of byListener.keys()) known.set(keyOf(listenerId), true);
  try {
    const { listeners, issues } = await readAbout(platform, [...byListener.values()].flat());
    const raised = [...byListener].map(([listenerId, failed]) => {
      const listener = listeners.get(listenerId);
      return listener && raise(platform, { listener, failed, issues, sinceMs });
    });
    await Promise.all(raised);
  } catch (error) {
    for (const listenerId of byListener.keys()) known.delete(keyOf(listenerId));
    platform.log.warn({ err: error }, "alerts of failed deliveries can't be raised yet");
  }
}

type Listener = Pick<Webhook, "_id" | "owner_id" | "name">;
type IssuesById = ReadonlyMap<string, Pick<Issue, "state" | "failed_since_opened">>;

/** The listeners of these attempts and their issues, by their ids. */
async function readAbout({ mongo }: Stores, attempted: Failed[]) {
  const listenerIds = new Set(attempted.map(({ delivery }) => delivery.webhook_id));
  const issueIds = new Set(attempted.flatMap(one => issueOf(one) ?? []));
  const [listeners, issues] = await Promise.all([
    Webhooks(mongo)
      .find({ _id: { $in: [...listenerIds] } }, { owner_id: 1, name: 1 })
      .lean<Listener[]>(),
    Issues(mongo)
      .find({ _id: { $in: [...issueIds] } }, { state: 1, failed_since_opened: 1 })
      .lean(),
  ]);
  return {
    listeners: new Map(listeners.map(listener => [listener._id, listener])),
    issues: new Map(issues.map(issue => [issue._id, issue])),
  };
}

const issueOf = ({ delivery, cause }: Failed) =>
  cause === null ? undefined : issueIdOf(delivery.webhook_id, cause);

interface About {
  listener: Listener;
  /** At least one. */
  failed: Failed[];
  issues: IssuesById;
  sinceMs: number;
}

async function raise(
  platform: Stores & Observed,
  { listener, failed, issues, sinceMs }: About,
): Promise<void> {
  const last = failed.at(-1) as Failed;
  const issue = issues.get(issueOf(last) ?? "");
  // A resolved one is about to be open again, in an episode that begins with these.
  const before = issue && UNRESOLVED.some(state => state === issue.state) ? issue.failed_since_opened : 0;
  const count = before + failed.filter(({ cause }) => cause === last.cause).length;
  const what = count === 1 ? "a delivery" : `${count} deliveries`;
  await raiseAlert(platform, {
    ownerId: listener.owner_id,
    type: "delivery.failed",
    subject: { id: listener._id, name: listener.name },
    sinceMs,
    message: `${what} to ${describeListener(listener)} failed (${last.cause}): no retry is left`,
    details: {
      ...issueDetails(listener._id, last.cause),
      failed_since_opened: count,
      delivery_id: last.delivery._id,
    },
  });
}
