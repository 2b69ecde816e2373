import type { Model, QueryFilter } from "mongoose";
import { presentIssues } from "../deliveries/issues/issues.ts";
import { groupBy } from "../lib/lists.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { type Connection, Connections } from "../models/connection.ts";
import { Deliveries, RETRIES } from "../models/delivery.ts";
import { type Issue, Issues, UNRESOLVED } from "../models/issue.ts";
import { type Source, Sources } from "../models/source.ts";
import { type Webhook, Webhooks } from "../models/webhook.ts";
import type { Queued, Stores } from "../platform.ts";
import { disableAfterMsOf } from "../webhooks/health.ts";
import { nearQuotas } from "./quotas.ts";
import type { AttentionView } from "./schema.ts";

const ROWS = LIMITS.attentionRows.value;

/**
 * Returns what needs somebody of an account now. It is kept by what happens, and read through indexes: the newest of each kind,
 * and how many there are, whatever the account has. A failure shows in it within seconds.
 */
export async function readAttention(platform: Stores & Queued, ownerId: string): Promise<AttentionView> {
  const { mongo } = platform;
  const [listeners, issues, sources, connections, retries, quotas] = await Promise.all([
    readListeners(platform, ownerId),
    readSome<Issue>(Issues(mongo), {
      filter: { owner_id: ownerId, state: "open" },
      index: { owner_id: 1, state: 1, last_seen_ms: -1 },
    }),
    readSome<Source>(Sources(mongo), {
      filter: { owner_id: ownerId, state: "ready", active: true, "failing.alerted": true },
      index: { owner_id: 1, "failing.since_ms": -1 },
    }),
    readSome<Connection>(Connections(mongo), {
      filter: { owner_id: ownerId, health: { $in: ["broken", "failing"] } },
      index: { owner_id: 1, health: 1, _id: -1 },
    }),
    readRetries(platform, ownerId),
    nearQuotas(platform, ownerId),
  ]);
  const counts = {
    disabled: listeners.disabledCount,
    issues: issues.count,
    sources: sources.count,
    connections: connections.count,
    quotas: quotas.length,
  };
  const total = Object.values(counts).reduce((sum, one) => sum + one, 0);
  return {
    needs: { total, ...counts, failing: listeners.failingCount },
    disabled: listeners.disabled,
    failing: listeners.failing,
    issues: await presentIssues(platform, issues.rows),
    sources: sources.rows.map(presentSource),
    connections: connections.rows.map(({ _id, name, app, health, fault }) => ({
      id: _id,
      name,
      app,
      health: health === "broken" ? "broken" : "failing",
      since_ms: fault?.at_ms ?? null,
      code: fault?.code ?? null,
      message: fault?.message ?? null,
    })),
    retries,
    quotas,
  };
}

const presentSource = ({ _id, name, failing }: Source): AttentionView["sources"][number] => ({
  id: _id,
  name,
  since_ms: failing?.since_ms ?? 0,
  failed_runs: failing?.runs ?? 0,
  code: failing?.code || null,
});

interface Some<Row> {
  filter: QueryFilter<Row>;
  /** Its last field orders the rows. */
  index: Record<string, 1 | -1>;
}

/** The first rows of a filter, and how many there are. */
async function readSome<Row>(
  model: Model<Row>,
  { filter, index }: Some<Row>,
): Promise<{ rows: Row[]; count: number }> {
  const order = Object.fromEntries(Object.entries(index).slice(-1));
  const [rows, count] = await Promise.all([
    model.find(filter).sort(order).limit(ROWS).hint(index).lean<Row[]>(),
    model.countDocuments(filter, { limit: LIMITS.attentionCounted.value, hint: index }),
  ]);
  return { rows, count };
}

/** Webhooks, destinations and agents' subscriptions that the platform disabled, and those that fail, with the issues of those that are shown. */
async function readListeners(platform: Stores, ownerId: string) {
  const { mongo } = platform;
  const [disabled, failing] = await Promise.all([
    readSome<Webhook>(Webhooks(mongo), {
      filter: { owner_id: ownerId, disabled_reason: { $gt: "" } },
      index: { owner_id: 1, disabled_at_ms: -1 },
    }),
    readSome<Webhook>(Webhooks(mongo), {
      filter: { owner_id: ownerId, active: true, failing_since_ms: { $gt: 0 } },
      index: { owner_id: 1, failing_since_ms: -1 },
    }),
  ]);
  const shown = [...disabled.rows, ...failing.rows];
  const issues = await Issues(mongo)
    .find({ listener_id: { $in: shown.map(({ _id }) => _id) }, state: { $in: UNRESOLVED } })
    .lean<Issue[]>();
  const issuesOf = groupBy(issues, ({ listener_id }) => listener_id);
  const present = ({ _id, name }: Webhook) => ({
    id: _id,
    name,
    causes: (issuesOf.get(_id) ?? []).sort((a, b) => b.last_seen_ms - a.last_seen_ms).map(presentCause),
  });
  return {
    disabledCount: disabled.count,
    disabled: disabled.rows.map(webhook => ({
      ...present(webhook),
      since_ms: webhook.disabled_at_ms ?? null,
      reason: webhook.disabled_reason ?? "",
    })),
    failingCount: failing.count,
    failing: failing.rows.map(webhook => ({
      ...present(webhook),
      since_ms: webhook.failing_since_ms ?? 0,
      will_be_disabled_at_ms: (webhook.failing_since_ms ?? 0) + disableAfterMsOf(platform, webhook),
    })),
  };
}

const presentCause = ({ _id, cause, state, count, last_seen_ms, last_error }: Issue) => ({
  issue_id: _id,
  ...{ cause, state, count, last_seen_ms, last_error },
});

async function readRetries({ mongo }: Stores, ownerId: string): Promise<AttentionView["retries"]> {
  const waiting = { owner_id: ownerId, state: "pending" as const, issue_id: { $gt: "" } };
  const [count, oldest] = await Promise.all([
    Deliveries(mongo).countDocuments(waiting, { limit: LIMITS.attentionCounted.value, hint: RETRIES }),
    Deliveries(mongo)
      .findOne(waiting, { webhook_id: 1, issue_id: 1, created_at: 1, next_attempt_at_ms: 1 })
      .sort({ _id: 1 })
      .hint(RETRIES)
      .lean(),
  ]);
  if (!oldest) return { count, oldest: null };
  const listener = await Webhooks(mongo).findById(oldest.webhook_id, { name: 1 }).lean();
  return {
    count,
    oldest: {
      delivery_id: oldest._id,
      listener_id: oldest.webhook_id,
      listener_name: listener?.name ?? null,
      issue_id: oldest.issue_id ?? "",
      since_ms: oldest.created_at.getTime(),
      next_attempt_at_ms: oldest.next_attempt_at_ms,
    },
  };
}
