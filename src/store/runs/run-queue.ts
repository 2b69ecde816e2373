import { AppError } from "../../lib/errors.ts";
import { newToken } from "../../lib/ids.ts";
import { hasId, type Part, WHOLE } from "../../lib/part.ts";
import type { RedisClient } from "../connections/redis.ts";
import { reserveArgs, reserveKeys } from "../events/event-log.ts";
import type { RedisKeys } from "../keys.ts";
import { type MemoryShare, type QueuedBytes, REPORT_STEP_BYTES } from "../limits/waiting-bytes.ts";
import { script } from "../lua.ts";

const push = script<[accepted: number, notification: string, report: number]>("push-runs");
const notify = script<string>("notify-runs");
const claim = script<["busy"] | ["empty"] | ["runs", number, number, number, ...string[]]>("claim-runs");
const ack = script<[result: number, report: number, ownerId: string]>("acknowledge", "ack-runs");
const settle = script<[result: number, report: number, ownerId: string, score: string]>(
  "acknowledge",
  "reserve",
  "settle-runs",
);
const nack = script<number>("nack-runs");
const release = script<number>("release-lease");
const renew = script<number>("renew-lease");
const unlist = script<number>("unlist-source");

/** After this, the next run promises the same notify job again, in case it was promised and never enqueued. */
const PROMISED_MS = 5_000;
/** Longer than a notify job waits under any backlog but an extreme one, which may then hold two for a source. */
const NOTIFICATION_MS = 3_600_000;
/** A run that crashes its holders comes again sooner than this, so its crashes are counted together. */
const CRASHES_KEPT_MS = 3_600_000;

/** Bytes of JSON in one claim: a request may be half a megabyte, and the holder keeps a whole claim in memory. */
const MAX_CLAIM_BYTES = 2 * 1024 * 1024;
/** A source is listed at most this often: a second command for each run of a busy one would double the run's own cost. */
const LIST_EVERY_MS = 1000;
const MAX_REMEMBERED_LISTINGS = 10_000;
/** Sources that one command asks for. */
const SCORES_AT_ONCE = 1000;
/** Listed sources that one call of `findListed` returns, more or less. */
const SCAN_COUNT = 200;

export interface Pushed {
  /** How many runs were accepted; for the rest the queue was full. */
  accepted: number;
  /** The notification for which the caller must enqueue a notify job of that name; null if one is on its way. */
  notification: string | null;
}
export type Claimed =
  | { state: "busy" }
  | { state: "empty" }
  /**
   * `crashes`: how many holders started the one run returned and did not live to finish it; 0 for a fresh batch. `claimed`:
   * how many runs are claimed now, with those that an earlier holder left. `settled`: how many entries `settle` added that
   * are still kept.
   */
  | { state: "runs"; runs: string[]; crashes: number; claimed: number; settled: number };
export type Acked = "lost" | "ok" | "change-waits";

/** What `settle` keeps: under a name, a JSON text that holds so many emissions. */
export interface SettledEntry {
  id: string;
  text: string;
  emissions: number;
}

/** How much may wait in a source's run queue, and for its account; 0 for any number. */
export interface QueueBounds {
  /** The account, whose bytes are counted; empty if it is not known. */
  ownerId: string;
  runs: number;
  bytes: number;
  accountBytes: number;
}

export const UNBOUNDED: QueueBounds = { ownerId: "", runs: 0, bytes: 0, accountBytes: 0 };

/** Any number of runs and bytes, counted for this account and enqueued in its turn. */
export const ofAccount = (ownerId: string): QueueBounds => ({ ...UNBOUNDED, ownerId });

/**
 * The runs that wait for each source, in order of arrival, and the lease of the one process that executes them
 * (docs/design.md#guarantees, 4). Changes of the source wait in a queue of their own, ahead of its runs. Claimed runs are
 * kept until they are acknowledged, so a killed holder loses none.
 */
export interface RunQueue {
  /**
   * Appends runs, in order, as far as they fit into `bounds`. Throws `unavailable` if Redis has hardly any memory left.
   */
  push(sourceId: string, runs: string[], bounds: QueueBounds): Promise<Pushed>;
  /** Appends a change if fewer than `most` changes wait (0: any number). */
  pushChange(sourceId: string, change: string, most: number): Promise<Pushed>;
  /**
   * Returns the name of the notification that is on its way to a worker, a new one if there is none. `not` is one whose job
   * is gone. Claiming runs ends a notification, so a job that runs never swallows the notify job of later runs.
   */
  notification(sourceId: string, not?: string): Promise<string>;
  /**
   * Claims up to `most` runs, fewer when they are large. `token` is a `leaseToken`: the same job, started again after a
   * stall, takes over its own lease.
   */
  claim(sourceId: string, token: string, leaseMs: number, most: number): Promise<Claimed>;
  /** Acknowledges the first claimed runs, so that `left` are left; safe to repeat. `lost` if the lease went to another process. */
  ack(sourceId: string, token: string, left: number): Promise<Acked>;
  /**
   * As `ack`, for runs whose records and emissions are in `entry`, which is kept from the same moment on, and reserves
   * consecutive event ids for the emissions; returns the first one's score.
   */
  settle(
    sourceId: string,
    token: string,
    left: number,
    entry: SettledEntry,
  ): Promise<{ acked: Acked; score: number }>;
  /** Returns what is claimed to the front of the queue. */
  nack(sourceId: string, token: string): Promise<void>;
  renew(sourceId: string, token: string, leaseMs: number): Promise<boolean>;
  /** Gives up the lease. What is left claimed did not crash the caller, unless `isBlamed`: then its crashes still count. */
  release(sourceId: string, token: string, options?: { isBlamed: boolean }): Promise<void>;
  /**
   * Returns some hundred sources of a part, of all without it, behind `cursor`, whose newest run arrived before `beforeMs`, to
   * the second; runs of them may wait. `next` is null at the end.
   */
  findListed(
    beforeMs: number,
    cursor: string | null,
    part?: Part,
  ): Promise<{ listed: string[]; next: string | null }>;
  /** Those of these sources that are listed: runs of the others don't wait, but for those that arrive now. */
  listedAmong(sourceIds: string[]): Promise<string[]>;
  /** True if runs of a listed source wait while no worker holds its lease. A source without runs, settled ones too, is unlisted. */
  isStalled(sourceId: string): Promise<boolean>;
  /** Changes and runs that wait or are claimed. */
  length(sourceId: string): Promise<number>;
  /** JSON of the run that was first in the queue among those that wait or are claimed; null if there is none. */
  first(sourceId: string): Promise<string | null>;
  delete(sourceId: string): Promise<void>;
}

/** The error while Redis takes no new work. */
export const redisIsFull = () =>
  new AppError("unavailable", "the server has too much waiting work", { retryAfterMs: 5000 });

/** A token for one execution of a job. Another execution of the same job takes over its lease and fences this one out. */
export const leaseToken = (jobId: string): string => `${newToken()} ${jobId}`;

/** `clock` is the installation's: several machines write and compare the times at which sources were listed. */
export function openRunQueue(
  redis: RedisClient,
  keys: RedisKeys,
  { clock, queued, memory }: { clock: () => number; queued: QueuedBytes; memory: MemoryShare },
): RunQueue {
  const length = async (sourceId: string) => {
    const queues = [keys.changeQueue(sourceId), keys.runQueue(sourceId), keys.claimedRuns(sourceId)];
    const lengths = await Promise.all(queues.map(queue => redis.llen(queue)));
    return lengths.reduce((sum, one) => sum + one, 0);
  };
  const stateOf = async (sourceId: string) => {
    const [waiting, held] = await Promise.all([length(sourceId), redis.exists(keys.runLease(sourceId))]);
    return { isEmpty: waiting === 0, isHeld: held === 1 };
  };

  /** When this process last listed each source. */
  const listedAt = new Map<string, number>();
  const list = async (sourceId: string) => {
    const nowMs = clock();
    if (Math.abs(nowMs - (listedAt.get(sourceId) ?? 0)) < LIST_EVERY_MS) return;
    await redis.zadd(keys.sourcesWithRuns(), nowMs, sourceId);
    if (listedAt.size >= MAX_REMEMBERED_LISTINGS) listedAt.clear();
    listedAt.set(sourceId, nowMs);
  };

  const pushTo = async (
    queue: string,
    sourceId: string,
    runs: string[],
    bounds: QueueBounds,
  ): Promise<Pushed> => {
    const { ownerId, runs: most, bytes } = bounds;
    const [, [accepted, notification, report]] = await Promise.all([
      // Sent before the push, so that `findListed` knows of every run that waits.
      list(sourceId),
      push(
        redis,
        [queue, keys.runsNotified(sourceId), keys.queueSize(sourceId)],
        [most, PROMISED_MS, NOTIFICATION_MS, newToken(), bytes, ownerId, REPORT_STEP_BYTES, ...runs],
      ),
    ]);
    if (report >= 0) await queued.report(ownerId, sourceId, report);
    return { accepted, notification: notification || null };
  };

  const ackKeys = (sourceId: string) => [
    keys.changeQueue(sourceId),
    keys.claimedRuns(sourceId),
    keys.runCrashes(sourceId),
    keys.queueSize(sourceId),
    keys.runQueue(sourceId),
  ];
  const acked = async (
    sourceId: string,
    [result, report, ownerId]: [result: number, report: number, ownerId: string],
  ): Promise<Acked> => {
    if (report >= 0) await queued.report(ownerId, sourceId, report);
    if (result === 0) return "lost";
    return result === 2 ? "change-waits" : "ok";
  };

  return {
    async push(sourceId, runs, bounds) {
      const { ownerId, accountBytes } = bounds;
      if (accountBytes > 0) {
        const allowed = memory.allowed();
        if (allowed === 0) throw redisIsFull();
        if (await queued.isOver(ownerId, accountBytes * allowed)) {
          return { accepted: 0, notification: null };
        }
      }
      return await pushTo(keys.runQueue(sourceId), sourceId, runs, bounds);
    },

    pushChange: (sourceId, change, most) =>
      pushTo(keys.changeQueue(sourceId), sourceId, [change], { ...UNBOUNDED, runs: most }),

    notification: (sourceId, not = "") =>
      notify(redis, [keys.runsNotified(sourceId)], [NOTIFICATION_MS, newToken(), not]),

    async claim(sourceId, token, leaseMs, most) {
      const [state, crashes, claimed, settled, ...runs] = await claim(
        redis,
        [
          keys.changeQueue(sourceId),
          keys.runQueue(sourceId),
          keys.claimedRuns(sourceId),
          keys.runLease(sourceId),
          keys.runsNotified(sourceId),
          keys.runCrashes(sourceId),
          keys.settledRuns(sourceId),
        ],
        [token, leaseMs, most, CRASHES_KEPT_MS, MAX_CLAIM_BYTES],
      );
      return state === "runs"
        ? {
            state,
            runs: runs as string[],
            crashes: crashes as number,
            claimed: claimed as number,
            settled: settled as number,
          }
        : { state };
    },

    async ack(sourceId, token, left) {
      const names = [keys.runLease(sourceId), ...ackKeys(sourceId)];
      const reply = await ack(redis, names, [token, left, REPORT_STEP_BYTES]);
      return await acked(sourceId, reply);
    },

    async settle(sourceId, token, left, { id, text, emissions }) {
      const [result, report, ownerId, score] = await settle(
        redis,
        [
          keys.runLease(sourceId),
          keys.settledRuns(sourceId),
          ...ackKeys(sourceId),
          ...reserveKeys(keys, sourceId),
        ],
        [token, left, REPORT_STEP_BYTES, id, text, ...reserveArgs(emissions)],
      );
      return { acked: await acked(sourceId, [result, report, ownerId]), score: Number(score) };
    },

    async nack(sourceId, token) {
      const ofSource = [keys.runQueue(sourceId), keys.claimedRuns(sourceId), keys.runLease(sourceId)];
      await nack(redis, ofSource, [token]);
    },

    async renew(sourceId, token, leaseMs) {
      return (await renew(redis, [keys.runLease(sourceId)], [token, leaseMs])) === 1;
    },

    async release(sourceId, token, { isBlamed } = { isBlamed: false }) {
      const ofSource = [keys.runLease(sourceId), keys.runCrashes(sourceId)];
      await release(redis, ofSource, [token, isBlamed ? 1 : 0]);
    },

    async findListed(beforeMs, cursor, part = WHOLE) {
      // A scan can't be divided: each part goes through the ids of all, which costs little beside what is asked about each.
      const count = SCAN_COUNT * part.of;
      const [next, found] = await redis.zscan(keys.sourcesWithRuns(), cursor ?? "0", "COUNT", count);
      const listed = found.filter(
        (id, i) => i % 2 === 0 && Number(found[i + 1]) <= beforeMs && hasId(part, id),
      );
      return { listed, next: next === "0" ? null : next };
    },

    async listedAmong(sourceIds) {
      const listed: string[] = [];
      for (let at = 0; at < sourceIds.length; at += SCORES_AT_ONCE) {
        const asked = sourceIds.slice(at, at + SCORES_AT_ONCE);
        const scores = await redis.zmscore(keys.sourcesWithRuns(), ...asked);
        listed.push(...asked.filter((_, i) => scores[i] != null));
      }
      return listed;
    },

    async isStalled(sourceId) {
      const [{ isEmpty, isHeld }, settled] = await Promise.all([
        stateOf(sourceId),
        redis.exists(keys.settledRuns(sourceId)),
      ]);
      // A source listed a moment ago may have received runs since that did not list it again.
      if (isEmpty && settled === 0)
        await unlist(redis, [keys.sourcesWithRuns()], [sourceId, clock() - 2 * LIST_EVERY_MS]);
      return !isEmpty && !isHeld;
    },

    length,

    async first(sourceId) {
      const [claimed, waiting] = await Promise.all([
        redis.lindex(keys.claimedRuns(sourceId), 0),
        redis.lindex(keys.runQueue(sourceId), 0),
      ]);
      return claimed ?? waiting;
    },

    async delete(sourceId) {
      const [ownerId, reported] = await redis.hmget(keys.queueSize(sourceId), "owner", "reported");
      if (ownerId && Number(reported) > 0) await queued.report(ownerId, sourceId, 0);
      await redis.del(
        keys.queueSize(sourceId),
        keys.changeQueue(sourceId),
        keys.runQueue(sourceId),
        keys.claimedRuns(sourceId),
        keys.runLease(sourceId),
        keys.runsNotified(sourceId),
        keys.runCrashes(sourceId),
        keys.settledRuns(sourceId),
      );
      await redis.zrem(keys.sourcesWithRuns(), sourceId);
    },
  };
}
