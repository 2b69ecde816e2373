import type { PausableWorker } from "./run-worker.ts";

/** The consumer of one shard. */
export interface ShardWorker extends PausableWorker, Readonly<SlotUse> {
  /** From now on it handles so many jobs at once; those above that go on. `shards`: how many this process consumes. */
  setSlots(slots: number, shards: number): void;
}

/** The shards of the queue, as `KeptShards` knows them. */
export interface ConsumedShards {
  /** How many there are. */
  count(): number;
  /** Calls the listener when there are more, until the returned function is called. */
  onGrown(listener: () => void): () => void;
  /** Those that this process consumes; all if absent. */
  only?: readonly number[] | undefined;
}

/** How often the slots are divided again, while there is more than one shard. Milliseconds. */
const SHARE_OUT_MS = 100;

/** Consumes the shards of a queue, further ones too as soon as there are any, and divides the process's slots over them. */
export class ShardedWorker implements PausableWorker {
  readonly #open: (shard: number, slots: number) => ShardWorker;
  readonly #slots: number;
  readonly #shards: ConsumedShards;
  readonly #workers = new Map<number, ShardWorker>();
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isHeld = false;
  #isClosed = false;

  /** `open` starts the consumer of a shard; `slots` are those of the process. */
  constructor(open: (shard: number, slots: number) => ShardWorker, slots: number, shards: ConsumedShards) {
    this.#open = open;
    this.#slots = slots;
    this.#shards = shards;
    this.#stopListening = shards.onGrown(() => this.#openMissing());
    this.#openMissing();
  }

  async ready(): Promise<void> {
    await Promise.all([...this.#workers.values()].map(worker => worker.ready()));
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    clearInterval(this.#timer);
    await Promise.all([...this.#workers.values()].map(worker => worker.close(deadlineMs)));
  }

  pause(): void {
    this.#isHeld = true;
    for (const worker of this.#workers.values()) worker.pause();
  }

  resume(): void {
    this.#isHeld = false;
    for (const worker of this.#workers.values()) worker.resume();
  }

  #openMissing(): void {
    const { only } = this.#shards;
    const all = Array.from({ length: this.#shards.count() }, (_, shard) => shard);
    const consumed = all.filter(shard => only?.includes(shard) ?? true);
    const missing = consumed.filter(shard => !this.#workers.has(shard));
    if (this.#isClosed || missing.length === 0) return;
    const slots = Math.max(1, Math.floor(this.#slots / consumed.length));
    for (const shard of missing) {
      const opened = this.#open(shard, slots);
      if (this.#isHeld) opened.pause();
      this.#workers.set(shard, opened);
    }
    for (const worker of this.#workers.values()) worker.setSlots(slots, consumed.length);
    if (this.#workers.size > 1) this.#timer ??= setInterval(() => this.#shareOut(), SHARE_OUT_MS).unref();
  }

  #shareOut(): void {
    const workers = [...this.#workers.values()];
    const slots = shareOutSlots(this.#slots, workers);
    for (const [i, worker] of workers.entries()) {
      const more = slots[i] ?? 1;
      if (more !== worker.slots) worker.setSlots(more, workers.length);
    }
  }
}

/** What a shard's consumer has: its slots, and how many jobs it holds. */
interface SlotUse {
  slots: number;
  held: number;
}

/** What a shard that has little to do keeps for what comes next: this part of an even share, and at least one slot. */
const RESERVE = 4;

/**
 * Divides the slots of a worker process over the shards that it consumes: one that uses all it has gets what others do not
 * use, and has to give it back as its jobs end. Returns the slots of each, at least one. All together hold no more jobs
 * than `total`, unless there are more shards.
 */
export function shareOutSlots(total: number, uses: readonly SlotUse[]): number[] {
  const fair = Math.floor(total / Math.max(1, uses.length));
  const reserve = Math.max(1, Math.floor(fair / RESERVE));
  const isScarce = uses.some(({ slots, held }) => held >= slots);
  // While nothing is scarce, an even share is best: any shard may get jobs next.
  const wanted = uses.map(({ slots, held }) => (!isScarce || held >= slots ? total : held + reserve));
  const ideal = leveled(total, wanted).map(target => Math.max(1, target));
  // What another shard still holds is not free yet.
  let free = total - sum(uses.map(({ slots, held }, i) => Math.max(held, Math.min(slots, ideal[i] ?? 1))));
  return uses.map(({ slots, held }, i) => {
    const target = ideal[i] ?? 1;
    if (target <= slots) return target;
    const more = Math.max(0, Math.min(target - Math.max(slots, held), free));
    free -= more;
    return Math.max(1, slots + more);
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Gives each what it wants as far as it goes, and those that want more an equal part of the rest. */
function leveled(total: number, wanted: readonly number[]): number[] {
  const order = wanted.map((_, i) => i).sort((one, other) => (wanted[one] ?? 0) - (wanted[other] ?? 0));
  const given = wanted.map(() => 0);
  let left = total;
  for (const [rank, i] of order.entries()) {
    given[i] = Math.min(wanted[i] ?? 0, Math.floor(left / (order.length - rank)));
    left -= given[i] ?? 0;
  }
  return given;
}
