import { stringifyJson } from "../lib/json-text.ts";
import type { RedisClient } from "../store/connections/redis.ts";
import { script } from "../store/lua.ts";

const requeueJob = script<number>("requeue-job");
const setJobPriority = script<number>("set-job-priority");
const setPayload = script<number>("set-job-payload");
const fairOrder = script<[waits: number, turn: number, ...positions: number[]]>("fair-order");
const pullOther = script<number>("pull-other");
const readSchedulers = script<string[]>("read-schedulers");

/** More than an account has in a few turns, so that a job of another one is among them. */
const MAX_PASSED = 256;

/** `live`: it waits or runs; `finished`: it is kept after it completed or failed; `absent`: not stored. */
export type JobState = "live" | "finished" | "absent";

/** What decides when a job scheduler ticks. Times are in milliseconds. */
export interface Scheduler {
  key: string;
  next: number;
  every?: number;
  pattern?: string;
  tz?: string;
}

const FIELDS = 4;

/**
 * The jobs of a queue as BullMQ stores them. What its API can't do, or not for many jobs at once, is done here; how a worker
 * takes and finishes jobs is in backend.ts. Both depend on keys that BullMQ does not promise: after an update of BullMQ,
 * test/queues/stored-jobs.test.ts says whether it still sees these jobs as they are meant. Every method throws as the client
 * does.
 */
export class StoredJobs {
  readonly #redis: RedisClient;
  readonly #keyOf: (part: string) => string;

  /** `queue`: a queue or a worker of BullMQ's. */
  constructor(redis: RedisClient, queue: { toKey(part: string): string }) {
    this.#redis = redis;
    this.#keyOf = part => queue.toKey(part);
  }

  /**
   * Returns a job that a worker has fetched and not started to its queue, behind those of the same priority (0: the plain
   * list), as if it had never been fetched. Does nothing if the job is no longer this worker's. `token` is what BullMQ
   * fetched the job with.
   */
  async requeue({ id, token, priority }: { id: string; token: string; priority: number }): Promise<void> {
    const parts = ["active", "wait", "prioritized", "stalled", "pc", "marker", id, `${id}:lock`];
    await requeueJob(this.#redis, parts.map(this.#keyOf), [id, token, priority]);
  }

  /** Sets the priority that a job has once its delay is over. */
  async setPriority(id: string, priority: number): Promise<void> {
    await setJobPriority(this.#redis, [this.#keyOf(id)], [priority]);
  }

  /** Replaces a job's payload. Throws if there is no such job. */
  async replacePayload(id: string, payload: unknown): Promise<void> {
    const isThere = await setPayload(this.#redis, [this.#keyOf(id)], [stringifyJson(payload)]);
    if (isThere === 0) throw new Error("the job whose payload is replaced is not stored");
  }

  /** Returns the state of a job; reads two of its fields, and not what it holds. */
  async state(id: string): Promise<JobState> {
    const [timestamp, finishedOn] = await this.#redis.hmget(this.#keyOf(id), "timestamp", "finishedOn");
    if (!timestamp) return "absent";
    return finishedOn ? "finished" : "live";
  }

  /**
   * Counts jobs of accounts, and returns whether jobs wait, the turn that is served, and the position from which each
   * account's jobs count (src/store/lua/fair-order.lua). `isFetched`: the jobs were waiting already.
   */
  async countTurns(
    costs: readonly (readonly [account: string, cost: number])[],
    { quantum, keptS, isFetched }: { quantum: number; keptS: number; isFetched: boolean },
  ): Promise<{ waits: boolean; turn: number; positions: number[] }> {
    const [waits, turn, ...positions] = await fairOrder(this.#redis, this.#waiting(), [
      quantum,
      keptS,
      isFetched ? 1 : 0,
      ...costs.flat(),
    ]);
    return { waits: waits === 1, turn, positions };
  }

  /**
   * Makes the first waiting job of another account than these the next of its queue, because theirs can't start. Returns
   * false if there is none.
   */
  async pullOther(accounts: string[]): Promise<boolean> {
    const args = [MAX_PASSED, this.#keyOf(""), ...accounts];
    return (await pullOther(this.#redis, this.#waiting(), args)) === 1;
  }

  /** Returns job schedulers by id in one round trip; BullMQ's own method asks for one, and reads its template too. */
  async schedulers(ids: readonly string[]): Promise<Map<string, Scheduler>> {
    if (ids.length === 0) return new Map();
    const values = await readSchedulers(this.#redis, [this.#keyOf("repeat")], [...ids]);
    return new Map(
      ids.flatMap((key, i) => {
        const [next = "", every, pattern, tz] = values.slice(i * FIELDS, (i + 1) * FIELDS);
        if (next === "") return [];
        const scheduler = {
          key,
          next: Number(next),
          ...(every && { every: Number(every) }),
          ...(pattern && { pattern }),
          ...(tz && { tz }),
        };
        return [[key, scheduler] as const];
      }),
    );
  }

  /** Returns when each job scheduler ticks next, by id. Unix milliseconds. */
  async nextTicks(): Promise<Map<string, number>> {
    const flat = await this.#redis.zrange(this.#keyOf("repeat"), "0", "-1", "WITHSCORES");
    const ticks = new Map<string, number>();
    for (let i = 0; i < flat.length; i += 2) ticks.set(flat[i] ?? "", Number(flat[i + 1]));
    return ticks;
  }

  /** Returns the ids of the job schedulers that should have ticked before a moment, the longest overdue first. */
  async overdueSchedulers(beforeMs: number, most: number): Promise<string[]> {
    return await this.#redis.zrangebyscore(this.#keyOf("repeat"), "-inf", beforeMs, "LIMIT", 0, most);
  }

  /** Returns ids of job schedulers and the next cursor, as SCAN does: each that is there throughout comes at least once. */
  async scanSchedulers(cursor: string, count: number): Promise<[next: string, ids: string[]]> {
    const [next, found] = await this.#redis.zscan(this.#keyOf("repeat"), cursor, "COUNT", count);
    return [next, found.filter((_, index) => index % 2 === 0)];
  }

  #waiting(): string[] {
    return ["wait", "prioritized", "fair"].map(this.#keyOf);
  }
}
