import { AppError } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { PlanLimitName, PlanLimits } from "../limits/plan-limits.ts";
import { Components } from "../models/component.ts";
import { Connections } from "../models/connection.ts";
import { Organizations } from "../models/organization.ts";
import { Sources } from "../models/source.ts";
import { AutoSubscriptions, Subscriptions } from "../models/subscription.ts";
import type { User } from "../models/user.ts";
import { NOT_MCP_IDS, Webhooks } from "../models/webhook.ts";
import { Workflows } from "../models/workflow.ts";
import type { Stores } from "../platform.ts";
import type { QueueBounds } from "../store/runs/run-queue.ts";
import { planOf } from "./users.ts";

/** As `planOf`, but cached for seconds. An owner that is not an account, such as the registry of components, is paid. */
export async function cachedPlanOf(platform: Stores, ownerId: string): Promise<User["plan"]> {
  const found = await platform.routing.lookUp(
    "plan",
    [ownerId],
    async () => {
      const plan = await planOf(platform, ownerId).catch((error: unknown): User["plan"] => {
        if (error instanceof AppError && error.code === "not-found") return "paid";
        throw error;
      });
      return new Map([[ownerId, plan]]);
    },
    () => [ownerId],
  );
  return found.get(ownerId) ?? "free";
}

/** Returns the bounds of an account: those of its plan (docs/limits.md). */
export async function limitsOf(platform: Stores, ownerId: string): Promise<PlanLimits> {
  return platform.config.limits[await cachedPlanOf(platform, ownerId)];
}

/** Returns how many runs, and bytes of them, may wait for one source of an account. */
export async function queueBounds(platform: Stores, ownerId: string): Promise<QueueBounds> {
  const { queuedBytesPerSource, queuedBytes } = await limitsOf(platform, ownerId);
  return { ownerId, runs: LIMITS.queuedRuns.value, bytes: queuedBytesPerSource, accountBytes: queuedBytes };
}

type Count = (platform: Stores, ownerId: string, most: number) => Promise<number>;

/** How many of a kind an account has, counted by an index and only as far as `most`. */
const COUNTS = {
  components: ({ mongo }, owner_id, limit) => Components(mongo).countDocuments({ owner_id }, { limit }),
  sources: ({ mongo }, owner_id, limit) => Sources(mongo).countDocuments({ owner_id }, { limit }),
  subMinuteTimers: ({ mongo }, owner_id, limit) =>
    Sources(mongo).countDocuments(
      { owner_id, active: true, "timer.interval_seconds": { $lt: 60 } },
      { limit },
    ),
  webhooks: ({ mongo }, owner_id, limit) =>
    Webhooks(mongo).countDocuments({ owner_id, _id: NOT_MCP_IDS }, { limit }),
  subscriptions: ({ mongo }, owner_id, limit) => Subscriptions(mongo).countDocuments({ owner_id }, { limit }),
  autoSubscriptions: ({ mongo }, owner_id, limit) =>
    AutoSubscriptions(mongo).countDocuments({ owner_id }, { limit }),
  organizations: ({ mongo }, created_by, limit) =>
    Organizations(mongo).countDocuments({ created_by }, { limit }),
  connections: ({ mongo }, owner_id, limit) => Connections(mongo).countDocuments({ owner_id }, { limit }),
  workflows: ({ mongo }, owner_id, limit) => Workflows(mongo).countDocuments({ owner_id }, { limit }),
} satisfies Partial<Record<PlanLimitName, Count>>;

export type Counted = keyof typeof COUNTS;

/** What an account can be too many of, as an error names it. */
const NOUNS: Record<Counted, string> = {
  components: "components",
  sources: "sources",
  subMinuteTimers: "active timers of less than a minute",
  webhooks: "webhooks and destinations",
  subscriptions: "subscriptions",
  autoSubscriptions: "auto subscriptions",
  organizations: "organizations",
  connections: "connections",
  workflows: "workflows",
};

/**
 * Throws `limit-reached` if the account has as many of a kind as its plan allows (docs/limits.md). Called before one is
 * created, without a lock: requests at the same moment may exceed the bound by as many as they are.
 */
export async function checkCount(platform: Stores, ownerId: string, name: Counted): Promise<void> {
  const most = (await limitsOf(platform, ownerId))[name];
  if (most > 0 && (await COUNTS[name](platform, ownerId, most)) < most) return;
  throw limitReached(
    most === 0
      ? `the plan of the account allows no ${NOUNS[name]}`
      : `the account has ${most} ${NOUNS[name]}, as many as its plan allows`,
  );
}

/**
 * Throws `limit-reached` if a source, workflow, organization or glob has as many subscriptions as the plan allows: every
 * event is matched with each of them. `ownerId` is the account that subscribes, whose own a glob's subscriptions are.
 */
export async function checkSubscriptionsPerEmitter(
  platform: Stores,
  ownerId: string,
  emitterId: string,
): Promise<void> {
  const { subscriptionsPerEmitter: most } = await limitsOf(platform, ownerId);
  const filter = { emitter_id: emitterId, ...(emitterId.endsWith("*") && { owner_id: ownerId }) };
  const count = most > 0 ? await Subscriptions(platform.mongo).countDocuments(filter, { limit: most }) : 0;
  if (most > 0 && count < most) return;
  throw limitReached(`${emitterId} has ${most} subscriptions, as many as the plan allows`);
}

/** Returns how many of each kind an account has. */
export async function countAll(platform: Stores, ownerId: string): Promise<Record<Counted, number>> {
  const names = Object.keys(COUNTS) as Counted[];
  const counts = await Promise.all(names.map(name => COUNTS[name](platform, ownerId, MOST_COUNTED)));
  return Object.fromEntries(names.map((name, i) => [name, counts[i]])) as Record<Counted, number>;
}

/** Counting further would cost more than a request may. */
const MOST_COUNTED = 100_000;

const limitReached = (message: string) => new AppError("limit-reached", message);
