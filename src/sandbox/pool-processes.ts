import type { PrivateAddress } from "../egress/private-addresses.ts";
import type { Bundle } from "./bundle.ts";
import { hostError } from "./protocol.ts";
import type { Sandbox } from "./sandbox.ts";

/** A process that a caller has acquired. */
export interface Slot {
  key: string;
  sandbox: Sandbox;
  /** Number of the key's source in the process; 0 unless several keys share it. */
  source: number;
  /** False when the process is acquired for the first time, true from its first release on. */
  isWarm: boolean;
}

/** A process of the pool, from before it starts until it has ended. */
export interface PoolProcess {
  /** One for each key that it has served, in the order of their numbers; more than one only if it is shared. */
  keys: Map<string, Promise<Slot>>;
  /** Whose keys may share it; undefined if it serves one key only. */
  group: string | undefined;
  owner: string;
  sandbox: Promise<Sandbox>;
  /** The memory that only this process has; an estimate until its first call has ended. */
  bytes: number;
  isBusy: boolean;
  /** The key of the call under way, or of the last one. */
  usedBy: string;
  /** It is ended as soon as it is idle. */
  isDiscarded: boolean;
  /** It has been killed but still counts, because it may not have ended yet. */
  isEnding: boolean;
  startedAt: number;
  idleSince: number;
  idleTimer: NodeJS.Timeout | undefined;
}

/** Who asks for a process. */
export interface ProcessUse {
  key: string;
  /** The owner of the key. */
  account: string;
  bundle: Bundle;
  /** The processes that it may share; undefined for one of its own. */
  group: string | undefined;
  /** What a new process may reach beside public addresses, for its life. */
  opened: readonly PrivateAddress[];
}

/** How a process is started. */
export interface StartOptions {
  /** Keys of one owner may use it in turn. */
  isShared: boolean;
  opened: readonly PrivateAddress[];
}

interface PoolProcessesOptions {
  /** Most keys that share a process. */
  maxKeys: number;
  open: (bundle: Bundle, start: StartOptions) => Promise<Sandbox>;
  /** Called for each process that has ended. */
  onGone: (process: PoolProcess) => void;
}

const SHUT_DOWN = hostError("Cancelled", "The sandbox was shut down");
/** What a process of a small component takes of its own, as measured. */
export const NEW_PROCESS_BYTES = 20 * 1024 * 1024;
/** A shared process takes no further key from here on, so that what its keys keep does not add up to its limit. */
const SHARED_BYTES = 80 * 1024 * 1024;

/** The processes of a pool: which keys each has served, and which of them is best for a call. */
export class PoolProcesses {
  readonly #options: PoolProcessesOptions;
  readonly #all = new Set<PoolProcess>();
  /** The process that served a key last. */
  readonly #byKey = new Map<string, PoolProcess>();
  readonly #byGroup = new Map<string, Set<PoolProcess>>();
  readonly #bySlot = new WeakMap<Slot, PoolProcess>();
  /** The processes that have started and not ended. */
  readonly #started = new Map<Sandbox, PoolProcess>();
  #bytes = 0;
  #isClosed = false;

  constructor(options: PoolProcessesOptions) {
    this.#options = options;
  }

  /** Those that are ending included. */
  get all(): readonly PoolProcess[] {
    return [...this.#all];
  }

  get count(): number {
    return this.#all.size;
  }

  /** The memory of all. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Those that have started and not ended. */
  get started(): readonly (readonly [Sandbox, PoolProcess])[] {
    return [...this.#started];
  }

  ofSlot(slot: Slot): PoolProcess | undefined {
    return this.#bySlot.get(slot);
  }

  /** Calls of one key must not overlap: they are of one source, and see its db one after the other. */
  isInUse(key: string): boolean {
    const process = this.#byKey.get(key);
    return process?.isBusy === true && process.usedBy === key;
  }

  /** Returns the idle process that is best for the call: the one that served the key last, or another one of its group. */
  idleFor({ key, group }: ProcessUse): PoolProcess | undefined {
    const own = this.#byKey.get(key);
    if (own && !own.isBusy) return own;
    const idle = this.#ofGroup(group).filter(process => !process.isBusy);
    const hasKey = idle.find(process => process.keys.has(key));
    if (hasKey) return hasKey;
    return idle
      .filter(process => this.#takesKeys(process))
      .reduce<PoolProcess | undefined>(
        (best, process) => (best && best.keys.size <= process.keys.size ? best : process),
        undefined,
      );
  }

  /** True if a busy process of the group takes further keys. */
  canBeShared(group: string | undefined): boolean {
    return this.#ofGroup(group).some(process => process.isBusy && this.#takesKeys(process));
  }

  /** Starts a process for a call; `assign` gives it to the call. */
  start({ key, account, bundle, group, opened }: ProcessUse): PoolProcess {
    const process: PoolProcess = {
      keys: new Map(),
      group,
      owner: account,
      sandbox: this.#options.open(bundle, { isShared: group !== undefined, opened }),
      bytes: 0,
      isBusy: false,
      usedBy: key,
      isDiscarded: false,
      isEnding: false,
      startedAt: performance.now(),
      idleSince: 0,
      idleTimer: undefined,
    };
    this.#all.add(process);
    this.setBytes(process, NEW_PROCESS_BYTES);
    if (group !== undefined) {
      this.#byGroup.set(group, (this.#byGroup.get(group) ?? new Set()).add(process));
    }
    process.sandbox.then(
      sandbox => {
        this.#started.set(sandbox, process);
        void sandbox.gone.then(() => {
          this.#started.delete(sandbox);
          this.#remove(process);
        });
        if (this.#isClosed) sandbox.kill(SHUT_DOWN);
      },
      () => this.#remove(process),
    );
    return process;
  }

  /** Makes a process busy with a call. Rejects if the process can't be started. */
  assign(process: PoolProcess, { key, account }: ProcessUse): Promise<Slot> {
    process.owner = account;
    process.usedBy = key;
    process.isBusy = true;
    this.#byKey.set(key, process);
    const source = process.keys.size;
    const slot =
      process.keys.get(key) ??
      process.sandbox.then(sandbox => {
        // A process that a key joins later has served others by then.
        const taken: Slot = { key, sandbox, source, isWarm: source > 0 };
        this.#bySlot.set(taken, process);
        return taken;
      });
    process.keys.set(key, slot);
    return slot;
  }

  setBytes(process: PoolProcess, bytes: number): void {
    this.#bytes += bytes - process.bytes;
    process.bytes = bytes;
  }

  /** Gives no further call to the process, which ends as soon as it is idle. */
  discard(process: PoolProcess): void {
    process.isDiscarded = true;
    for (const key of process.keys.keys()) if (this.#byKey.get(key) === process) this.#byKey.delete(key);
    if (process.group === undefined) return;
    const group = this.#byGroup.get(process.group);
    group?.delete(process);
    if (group?.size === 0) this.#byGroup.delete(process.group);
  }

  /** Kills the process. It counts until it is gone. */
  end(process: PoolProcess): void {
    clearTimeout(process.idleTimer);
    process.isEnding = true;
    this.discard(process);
    for (const [sandbox, started] of this.#started) if (started === process) sandbox.kill(SHUT_DOWN);
  }

  /** Ends all; resolves once they are gone, those too that were about to start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const all = this.all;
    for (const process of all) this.end(process);
    await Promise.all(
      all.map(process =>
        process.sandbox.then(
          sandbox => sandbox.gone,
          () => undefined,
        ),
      ),
    );
  }

  #ofGroup(group: string | undefined): PoolProcess[] {
    if (group === undefined) return [];
    return [...(this.#byGroup.get(group) ?? [])].filter(({ isEnding }) => !isEnding);
  }

  #takesKeys({ keys, bytes }: PoolProcess): boolean {
    return keys.size < this.#options.maxKeys && bytes < SHARED_BYTES;
  }

  #remove(process: PoolProcess): void {
    clearTimeout(process.idleTimer);
    this.setBytes(process, 0);
    this.discard(process);
    this.#all.delete(process);
    this.#options.onGone(process);
  }
}
