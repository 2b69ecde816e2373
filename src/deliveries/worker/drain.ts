import { subscriberAccessNow } from "../../accounts/access.ts";
import { Deliveries, type Delivery } from "../../models/delivery.ts";
import type { Webhook } from "../../models/webhook.ts";
import type { Calling, Stores, Working } from "../../platform.ts";
import { type Drain, enqueueDrain } from "../../queues/deliveries.ts";
import type { JobContext } from "../../queues/job-kinds.ts";
import { Snooze } from "../../queues/verdicts.ts";
import { isSubscriptionEnded } from "../../subscriptions/find.ts";
import { traceField } from "../../tracing/trace-context.ts";
import { type AgentAccess, agentAccess } from "../attempt/agent-access.ts";
import type { Attempted } from "../attempt/attempt.ts";
import { connectedBy, prepare } from "../attempt/prepare.ts";
import { endDelivery } from "../attempt/record.ts";
import { BUSY } from "../limits/permit-cache.ts";
import {
  DrainPermits,
  isRateLimited,
  permitCount,
  unlimited,
  type WebhookLimits,
} from "../limits/webhook-limits.ts";
import { type Admit, type Due, type DueNow, type LogFields, makeDue, type SharedByAttempts } from "./due.ts";
import { attemptFields, makeAttempts } from "./make-attempts.ts";
import { openOrder } from "./order.ts";

/** How long one drain begins attempts. Milliseconds. */
const DRAIN_MS = 400;
/** Deliveries that are read at a time. */
const BATCH = 32;
/** When to look again if the process or the account has too many attempts in flight; more or less by half. Milliseconds. */
const PUT_OFF_MS = 1500;
/** An event that is not stored yet is looked for again after this part of the delivery's age, and at least this long. Milliseconds. */
const EARLY_MS = 1000;
const EARLY_PARTS = 4;
/**
 * An event is stored while its first attempts are made. If MongoDB was away then, its emission comes again, perhaps behind all that
 * waited during the outage. A pending delivery keeps its event from being deleted, so that nothing is missed by patience. Milliseconds.
 */
const STORED_LATE_MS = 3_600_000;
/** What is due later has a drain of its own, or the sweep drains the webhook once it is due. Milliseconds. */
const SOON_MS = 60_000;

type Context = Pick<JobContext<Drain>, "job" | "jobId" | "signal" | "isStopping">;

/**
 * Handles a `drain` job: sends what is due at a webhook, as the webhook is now, with as many permits as it has, for a short
 * while. At an ordered webhook that is one delivery after another by event id. A drain that can't begin has another one
 * follow (src/store/limits/permits.ts). Throws Snooze if there is more to send.
 */
export async function drain(
  platform: Working & Calling,
  { job, jobId, signal, isStopping }: Context,
  shared: SharedByAttempts,
): Promise<LogFields> {
  const { webhook_id } = job;
  const webhook = await shared.reads.webhook(webhook_id);
  const owner_id = webhook?.owner_id ?? job.account_id;
  const limits = webhook?.active ? webhook : unlimited({ _id: webhook_id, owner_id });
  const permits = await DrainPermits.begin(platform, limits, jobId);
  if (typeof permits === "string") return { webhook_id, result: "busy", lacks: permits };
  const sending = new Sending(platform, { webhook, limits, permits, signal, isStopping }, shared);
  let next: Next = "now";
  try {
    next = await sending.sendWhileDue();
  } finally {
    await permits.end(next === "now" || sending.lacks);
  }
  const fields: LogFields = { webhook_id, ...sending.fields() };
  // A permit that outlives this start must not pass for one of the job's next start, as it does after a crash.
  if (next === "now" && !fields.detached) throw new Snooze(1, fields);
  if (next === "now") await enqueueDrain(platform, limits);
  else if (next !== "none" && next < SOON_MS) await enqueueDrain(platform, limits, next);
  return fields;
}

/** When the next delivery is due: `now`, in so many milliseconds, or `none` if that is known to another drain. */
type Next = "now" | "none" | number;

interface SendingOptions extends Pick<Context, "signal" | "isStopping"> {
  webhook: Webhook | null;
  limits: WebhookLimits;
  permits: DrainPermits;
}

/** What one drain sends. */
class Sending {
  readonly #platform: Working & Calling;
  readonly #options: SendingOptions;
  readonly #shared: SharedByAttempts;
  readonly #endsAt = performance.now() + DRAIN_MS;
  /** How many attempts had which result. */
  readonly #counts: Record<string, number> = { attempts: 0 };
  readonly #rows: Delivery[] = [];
  #lastAttempted: Attempted | undefined;
  /** True if what is due lacks a token, or a place among the attempts in flight. */
  lacks = false;

  constructor(platform: Working & Calling, options: SendingOptions, shared: SharedByAttempts) {
    this.#platform = platform;
    this.#options = options;
    this.#shared = shared;
  }

  async sendWhileDue(): Promise<Next> {
    const { webhook, limits, permits, isStopping } = this.#options;
    const most = Math.min(BATCH, 2 * permitCount(this.#platform, limits));
    const find =
      webhook?.active && webhook.ordered
        ? await openOrder(this.#platform, webhook)
        : () => findDue(this.#platform, limits._id, most);
    const timer = setTimeout(() => permits.beOver(), DRAIN_MS);
    try {
      while (!permits.isClosed && performance.now() < this.#endsAt && !isStopping()) {
        const { rows, waitMs } = await find();
        if (rows.length === 0) return waitMs ?? "none";
        const tokens = await this.#acquireTokens(rows.length);
        const waits = await this.#send(rows.slice(0, tokens.acquired));
        if (tokens.acquired < rows.length) {
          this.lacks = true;
          return Math.max(1, tokens.nextInMs);
        }
        if (this.lacks) return PUT_OFF_MS * (0.5 + Math.random());
        // What has become due since has a drain of its own.
        if (rows.length < most && !limits.ordered && waits === 0) return "none";
      }
      return "now";
    } finally {
      clearTimeout(timer);
    }
  }

  /** Counts for the job's log line; that of a drain with one delivery names it and says what became of it. */
  fields(): LogFields {
    const [row, ...others] = this.#rows;
    if (!row || others.length > 0) return this.#counts;
    if (this.#lastAttempted) return { ...this.#counts, ...attemptFields(row, this.#lastAttempted) };
    const { _id: delivery_id, event_id, emitter_id, trace } = row;
    return { ...this.#counts, delivery_id, event_id, emitter_id, ...traceField(trace) };
  }

  async #acquireTokens(wanted: number): Promise<{ acquired: number; nextInMs: number }> {
    const { limits } = this.#options;
    if (!isRateLimited(limits)) return { acquired: wanted, nextInMs: 0 };
    const perSecond = limits.rate_limit_per_second ?? 1;
    return await this.#platform.permits.acquireTokens(limits._id, wanted, perSecond, false);
  }

  /** Returns how many of them are left, because the drain was closed. */
  async #send(rows: Delivery[]): Promise<number> {
    const { webhook, permits, signal } = this.#options;
    this.#rows.push(...rows);
    const { toSend, ended, early } = await loadDue(this.#platform, webhook, rows, this.#shared);
    for (const row of early) {
      await makeDue(
        this.#platform,
        row,
        Math.max(EARLY_MS, Math.ceil(ageOf(this.#platform, row) / EARLY_PARTS)),
      );
    }
    if (toSend.length > 1) await permits.widen(toSend.length);
    const options = { admit: this.#admit, mayBeStored: true, signal };
    const results = await makeAttempts(this.#platform, toSend, options, this.#shared);
    this.#counts.attempts = (this.#counts.attempts ?? 0) + toSend.length - (results.waits ?? 0);
    for (const [result, count] of Object.entries({ ...results, ...(ended > 0 && { ended }) })) {
      this.#counts[result] = (this.#counts[result] ?? 0) + count;
    }
    return results.waits ?? 0;
  }

  #admit: Admit = async (webhook, send) => {
    const { permits } = this.#options;
    const permit = await permits.acquire();
    if (permit === null) return BUSY;
    let isFailing = webhook.failing_since_ms !== null;
    try {
      const leave = await this.#shared.inFlight.enter(webhook);
      if (!leave) {
        this.lacks = true;
        permits.close();
        return BUSY;
      }
      try {
        const attempted = await send();
        this.#lastAttempted = attempted;
        isFailing = attempted.decision.kind !== "delivered";
        // The webhook's health has changed, and perhaps more: the next drain reads it again.
        if (isFailing || webhook.failing_since_ms !== null) permits.close();
        return attempted;
      } finally {
        leave();
      }
    } finally {
      // If Redis is away, it expires.
      void permits.giveBack(permit, isFailing).catch(() => undefined);
    }
  };
}

async function findDue(platform: Working & Calling, webhookId: string, most: number): Promise<DueNow> {
  const rows = await Deliveries(platform.mongo)
    .find(
      { webhook_id: webhookId, state: "pending", next_attempt_at_ms: { $lte: platform.clock() } },
      // Its last attempt holds the number, and reading all fifty would be a waste.
      { attempts: { $slice: -1 } },
    )
    .sort({ next_attempt_at_ms: 1 })
    .hint("due_at_webhook")
    .limit(most)
    .lean<Delivery[]>();
  return { rows };
}

interface LoadedDue {
  toSend: Due[];
  /** Deliveries that ended without an attempt. */
  ended: number;
  /** Deliveries whose events are not stored yet. */
  early: Delivery[];
}

/**
 * Loads what the attempts of pending deliveries need and prepares each, as things are now: the webhook may have been deleted
 * or disabled since, and a subscription ended. Those that are not to be sent end here. Throws `unavailable`.
 */
async function loadDue(
  platform: Working & Calling,
  webhook: Webhook | null,
  rows: Delivery[],
  shared: Pick<SharedByAttempts, "reads">,
): Promise<LoadedDue> {
  const loaded: LoadedDue = { toSend: [], ended: 0, early: [] };
  const ofAgents = await agentAccess(platform, webhook ? [webhook] : []);
  await Promise.all(rows.map(row => loadOne(platform, { webhook, ofAgents }, row, shared, loaded)));
  const order = new Map(rows.map(({ _id }, i) => [_id, i]));
  loaded.toSend.sort((a, b) => (order.get(a.deliveryId) ?? 0) - (order.get(b.deliveryId) ?? 0));
  return loaded;
}

async function loadOne(
  platform: Working & Calling,
  { webhook, ofAgents }: { webhook: Webhook | null; ofAgents: AgentAccess },
  row: Delivery,
  { reads }: Pick<SharedByAttempts, "reads">,
  loaded: LoadedDue,
): Promise<void> {
  const [event, subscription] = await Promise.all([
    reads.event(row.emit_id),
    reads.subscription(row.subscription_id),
  ]);
  const access = await subscriberAccessNow(platform, connectedBy(row, subscription, event));
  const prepared = prepare({
    webhook,
    access: ofAgents.narrow(row.webhook_id, access),
    isSubscribed: subscription !== null || !(await isSubscriptionEnded(platform, row)),
    payload: event?.event,
    nowMs: platform.clock(),
  });
  if (prepared.kind === "send") {
    loaded.toSend.push(dueOf(row, prepared, subscription ?? row));
    return;
  }
  if (prepared.reason === "payload-gone" && ageOf(platform, row) < STORED_LATE_MS) {
    loaded.early.push(row);
    return;
  }
  await endDelivery(platform, row, prepared.reason);
  loaded.ended += 1;
}

const ageOf = ({ clock }: Stores, { created_at }: Delivery): number => clock() - created_at.getTime();

/** `having`: the subscription, or, if it was deleted with its emitter, the delivery, which notes what it had. */
function dueOf(
  row: Delivery,
  { webhook, body }: { webhook: Webhook; body: string },
  having: { owner_id: string; function_hash?: string | null | undefined },
): Due {
  const { _id, emit_id, event_id, emitter_id, event_name, trace, hops, subscription_id, webhook_id } = row;
  return {
    deliveryId: _id,
    event: {
      ...{ id: emit_id, event_id, emitter_id, name: event_name },
      ...(trace !== undefined && { trace }),
      ...(hops !== undefined && { hops }),
    },
    listener: { subscriptionId: subscription_id, webhookId: webhook_id, ownerId: having.owner_id },
    webhook,
    body,
    functionHash: having.function_hash ?? null,
    row,
  };
}
