import type { PausableWorker } from "./run-worker.ts";
import { type SlotUse, shareOutSlots } from "./share-out-slots.ts";

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
