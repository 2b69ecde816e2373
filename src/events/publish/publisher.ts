import { enqueueEmissionJobs } from "../../accepted/keep.ts";
import { limitsOf } from "../../accounts/limits.ts";
import { PublishQuota } from "../../accounts/quota.ts";
import { requestTurns } from "../../fairness/turns.ts";
import { createBatcher } from "../../lib/batcher.ts";
import { AppError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { openPer } from "../../lib/lazy.ts";
import { groupBy } from "../../lib/lists.ts";
import type { Working } from "../../platform.ts";
import {
  BYTES_PER_JOB,
  EMISSIONS_PER_JOB,
  type Emission,
  type EmissionsJob,
  jobOf,
  openBatchers,
  packBySize,
  sizeOf,
} from "../../queues/emissions.ts";
import { type CountedBytes, EmissionBytes } from "../../store/limits/waiting-bytes.ts";
import { redisIsFull } from "../../store/runs/run-queue.ts";
import type { Emitter } from "../../subscriptions/match.ts";
import { holdForEmissions, type Release } from "../../webhooks/hold-for-emissions.ts";

/** The events of one request. */
export interface Publication {
  emitter: Emitter;
  emissions: Emission[];
  /** The length of the request's JSON. */
  bytes: number;
}

/** Requests enqueued in one round trip, and round trips at a time. A large request counts as many. */
const BATCH = { maxWeight: 500, concurrency: 4 };
const BYTES_PER_UNIT = 8 * 1024;
const RETRY_AFTER_MS = 1000;
/** What an event costs all processes on its way, at least: a batch counts as many requests. */
const MS_PER_EVENT = 0.5;

/** Puts published events on the queue of emissions, those of requests that arrive at the same time in one round trip. */
export class Publisher {
  readonly #platform: Working;
  readonly #waiting: EmissionBytes;
  readonly #quota: PublishQuota;
  readonly #enqueue: (publication: Publication) => Promise<void>;

  constructor(platform: Working) {
    this.#platform = platform;
    this.#waiting = new EmissionBytes(platform);
    this.#quota = new PublishQuota(platform);
    const enqueue = openBatchers(platform.queues, () =>
      createBatcher((batch: Publication[]) => this.#enqueueAll(batch), {
        ...BATCH,
        weigh: ({ bytes }) => 1 + Math.floor(bytes / BYTES_PER_UNIT),
      }),
    );
    this.#enqueue = publication => enqueue(publication.emitter.id, publication);
  }

  /**
   * Resolves once Redis, and what else the settings ask for, holds all events of a request. Throws `rate-limited` for an
   * account that has too much waiting, or has used up its day, `unavailable` if Redis is full or away, and as
   * `Replicas.confirm` does; after the latter the events are enqueued.
   */
  async publish(publication: Publication): Promise<void> {
    const ownerId = publication.emitter.owner_id;
    const { emissionBytes, publishedEvents } = await limitsOf(this.#platform, ownerId);
    const allowed = this.#platform.memory.allowed();
    if (allowed === 0) throw redisIsFull();
    if (await this.#waiting.isOver(ownerId, emissionBytes * allowed)) {
      const message = "too many events of this account wait to be handled";
      throw new AppError("rate-limited", message, { retryAfterMs: RETRY_AFTER_MS });
    }
    await this.#quota.count(ownerId, publication.emissions.length, publishedEvents);
    requestTurns.charge(ownerId, publication.emissions.length * MS_PER_EVENT);
    const { replicas } = this.#platform;
    const before = replicas.begin();
    await (isLarge(publication) ? this.#enqueueLarge(publication) : this.#enqueue(publication));
    await replicas.confirm(before);
  }

  async #enqueueLarge(publication: Publication): Promise<void> {
    const release = await this.#reserveScores(publication);
    failpoint("scores-reserved");
    try {
      await this.#enqueue(publication);
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Jobs are handled side by side: by their scores, events of a request that takes several of them keep their order. The
   * returned function gives them up.
   */
  async #reserveScores({ emitter, emissions: all }: Publication): Promise<Release> {
    const release = await holdForEmissions(
      this.#platform,
      all.map(({ emit_id }) => ({ emitter_id: emitter.id, emit_id, ownerId: emitter.owner_id })),
    );
    const first = await this.#platform.eventLog.reserve(emitter.id, all.length);
    for (const [i, emission] of all.entries()) emission.score = first + i;
    return release;
  }

  /** Adds all jobs in one transaction of Redis': all requests are accepted, or none. */
  async #enqueueAll(batch: Publication[]): Promise<void> {
    const byAccount = groupBy(batch, ({ emitter }) => emitter.owner_id);
    const counted: CountedBytes[] = [];
    const jobs = [...byAccount].flatMap(([ownerId, ofOne]) =>
      packPublications(ofOne).map((packed): EmissionsJob => {
        const bytes = this.#waiting.add(ownerId, packed.bytes);
        if (bytes) counted.push(bytes);
        return { ...jobOf(packed.emissions, ownerId), ...(bytes && { counted: bytes }) };
      }),
    );
    try {
      await enqueueEmissionJobs(this.#platform, jobs);
      failpoint("publications-enqueued");
    } catch (error) {
      for (const one of counted) this.#waiting.remove(one);
      throw error;
    }
  }
}

const isLarge = ({ emissions: all, bytes }: Publication): boolean =>
  all.length > EMISSIONS_PER_JOB || bytes > BYTES_PER_JOB;

interface Packed {
  emissions: Emission[];
  bytes: number;
}

/** Packs the events of an account's requests into few jobs: small requests whole and together, a large one by itself. */
function packPublications(publications: Publication[]): Packed[] {
  const packed: Packed[] = [];
  let last: Packed | undefined;
  for (const publication of publications) {
    const { emissions: all, bytes } = publication;
    if (isLarge(publication)) {
      packed.push(...divide(publication));
      continue;
    }
    if (
      !last ||
      last.emissions.length + all.length > EMISSIONS_PER_JOB ||
      last.bytes + bytes > BYTES_PER_JOB
    ) {
      last = { emissions: [], bytes: 0 };
      packed.push(last);
    }
    last.emissions.push(...all);
    last.bytes += bytes;
  }
  return packed;
}

function divide({ emissions: all }: Publication): Packed[] {
  return packBySize(all, sizeOf).map(part => ({
    emissions: part,
    bytes: part.reduce((sum, emission) => sum + sizeOf(emission), 0),
  }));
}

/** Returns the publisher of this process. */
export const publisherOf = openPer((platform: Working) => new Publisher(platform));
