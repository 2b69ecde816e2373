import { type CallListeners, CallSequence } from "./call-sequence.ts";
import { type ChildLimits, callsMessage, type ParentMessage } from "./child/wire.ts";
import { type UsageSample, UsageTracker } from "./process-usage.ts";
import { type BatchRequest, type CallError, hostError, isSandboxLost } from "./protocol.ts";
import type { Child } from "./spawn.ts";

export interface BatchControl extends CallListeners {
  /** Number of the source, which is loaded. */
  source: number;
  /** Wall-clock limit of each call. */
  wallMs: number;
  /** No call starts later than this many milliseconds after the first. */
  startWithinMs: number;
  maxCalls: number;
}

export type Loaded = { state: "loaded" } | { state: "failed"; error: CallError };
export type Described =
  | { state: "described"; description: unknown }
  | { state: "rejected"; path: string; message: string }
  /** The process was ended from outside. */
  | { state: "lost" };

/** A child may report the start of a call in time, while the host reads the report only later. */
const REPORT_DELAY_MS = 1000;

/**
 * A component in a process, for one source or for several (docs/design.md#sandbox). Calls must not overlap: the pool gives
 * a sandbox to one caller at a time.
 */
export class Sandbox {
  readonly #child: Child;
  /** By the number of the source. */
  readonly #loaded = new Map<number, Promise<Loaded>>();
  readonly #limits: ChildLimits;
  readonly #sendWindow = new SendWindow();
  /** Number of the last call that was sent to the child. */
  #lastCall = 0;
  #completedCalls = 0;
  #goneError: CallError | undefined;
  /** One listener for all calls: a listener for each call would keep its events in memory until the process ends. */
  #onGone: (error: CallError) => void = () => {};
  /** Set while calls are under way. */
  #usage: UsageTracker | undefined;

  constructor(child: Child, limits: ChildLimits) {
    this.#child = child;
    this.#limits = limits;
    void child.gone.then(error => {
      this.#goneError = error;
      this.#onGone(error);
    });
    this.#loaded.set(0, this.#whenLoaded());
  }

  /**
   * Resolves when the component's code has been evaluated for a source, or can't be. The code of source 0 is evaluated at
   * the start of the process, that of another one at the first call of this, which must not overlap with any other.
   */
  load(source: number): Promise<Loaded> {
    const earlier = this.#loaded.get(source);
    if (earlier) return earlier;
    const loaded = this.#whenLoaded();
    this.#loaded.set(source, loaded);
    if (this.#goneError) this.#onGone(this.#goneError);
    else this.#child.send(JSON.stringify({ kind: "load", source } satisfies ParentMessage));
    return loaded;
  }

  /**
   * For how long the process's main thread has computed, and has waited for a processor, since it started, in
   * milliseconds; 0 on other systems than Linux.
   */
  usedMs(): { cpu: number; waited: number } {
    return this.#child.usage.mainThreadMs();
  }

  get pid(): number {
    return this.#child.pid;
  }

  get folders(): readonly string[] {
    return this.#child.folders;
  }

  /** Resolves when the process has ended, with the reason. */
  get gone(): Promise<CallError> {
    return this.#child.gone;
  }

  /**
   * Returns how many calls it has completed, and the processor time and the memory of its own of the process at the end of
   * the last one.
   */
  served(): { calls: number; cpuMs: number; ownBytes: number } {
    const { cpuMs, ownBytes } = this.#child.usage.last();
    return { calls: this.#completedCalls, cpuMs, ownBytes };
  }

  /** Asks the component for its description. The result is not checked yet. */
  describe(): Promise<Described> {
    return new Promise<Described>(resolve => {
      const reject = (message: string, path = "code") => resolve({ state: "rejected", path, message });
      this.#onGone = error => (isSandboxLost(error) ? resolve({ state: "lost" }) : reject(error.message));
      this.#child.onMessage = message => {
        if (message.kind === "described") {
          resolve({ state: "described", description: message.description });
        } else if (message.kind === "rejected") reject(message.message, message.path);
        else if (message.kind === "failed") reject(message.error.message);
      };
      if (this.#goneError) this.#onGone(this.#goneError);
      else this.#child.send(JSON.stringify({ kind: "describe" } satisfies ParentMessage));
    });
  }

  /**
   * Calls the component with the first event, and with the following events as long as there is time. Resolves with the
   * number of calls that have ended, failed calls included. It is 0 if the process ended before it started the first
   * call; another process may then handle that call.
   */
  async callBatch(request: BatchRequest, control: BatchControl): Promise<number> {
    const { wallMs, startWithinMs } = control;
    const events = this.#sendWindow.select(request.events, control.maxCalls);
    const startedAt = performance.now();
    const elapsedMs = () => performance.now() - startedAt;
    this.#usage = new UsageTracker(this.#child.usage);
    const timeout = hostError("Timeout", `The component ran longer than ${wallMs} ms`);
    const timer = setTimeout(() => this.kill(timeout), wallMs);
    const firstCall = this.#lastCall + 1;
    this.#lastCall += events.length;
    const sequence = new CallSequence({
      firstCall,
      count: events.length,
      db: request.db,
      limits: this.#limits,
      usage: this.#usage,
      onRespond: control.onRespond,
      onResult: control.onResult,
      onCallStart() {
        // The child must not start calls later than this. A call that it reports later gets no wall-clock time of its
        // own.
        if (elapsedMs() < startWithinMs + REPORT_DELAY_MS) timer.refresh();
      },
      onViolation: reason => this.#child.reportViolation(reason),
    });
    const error = await this.#exchange(sequence, () =>
      callsMessage({ source: control.source, call: firstCall, request, events, startWithinMs }),
    );
    clearTimeout(timer);
    if (error) sequence.fail(error);
    this.#usage = undefined;
    this.#completedCalls += sequence.completed;
    this.#sendWindow.adjust(events.length, sequence.completed, elapsedMs() / startWithinMs);
    return sequence.completed;
  }

  /** Returns what the process has used since its start, and the call under way, if there is one, since its own. */
  usage(): UsageSample & { callCpuMs: number | undefined } {
    if (!this.#usage) return { ...this.#child.usage.sample(true), callCpuMs: undefined };
    const sample = this.#usage.sample(true);
    return { ...sample, callCpuMs: sample.cpuMs - this.#usage.cpuMsBefore };
  }

  kill(reason: CallError): void {
    this.#child.kill(reason);
  }

  #whenLoaded(): Promise<Loaded> {
    return new Promise<Loaded>(resolve => {
      this.#onGone = error => resolve({ state: "failed", error });
      this.#child.onMessage = message => {
        if (message.kind === "loaded") resolve({ state: "loaded" });
        else if (message.kind === "failed") resolve({ state: "failed", error: message.error });
        else if (message.kind === "rejected") {
          resolve({ state: "failed", error: hostError("Error", `${message.path}: ${message.message}`) });
        }
      };
    });
  }

  /** Sends the calls and resolves when no further call will start: with an error if the process has ended. */
  async #exchange(sequence: CallSequence, toJson: () => string): Promise<CallError | undefined> {
    const error = await new Promise<CallError | undefined>(resolve => {
      this.#onGone = resolve;
      this.#child.onMessage = (message, size) => {
        if (!sequence.handle(message, size)) return;
        // Set at once, because the same chunk of output may contain further messages.
        this.#child.onMessage = () => this.#child.reportViolation("it sent a message outside of a call");
        resolve(undefined);
      };
      if (this.#goneError) resolve(this.#goneError);
      else this.#child.send(toJson());
    });
    this.#onGone = () => {};
    return error;
  }
}

/** For a process whose speed is not known yet. */
const INITIAL_SIZE = 8;
const MAX_SIZE = 100;
/** JSON bytes of the events that are sent to a child at a time. Until they are handled, both processes hold them. */
const MAX_BYTES = 256 * 1024;
/** The factor by which the size grows after a batch that left most of its time unused. */
const GROWTH = 4;

/**
 * How many calls are sent to a process at a time: as many as it is likely to complete, because what it does not start
 * in time has to be sent again.
 */
class SendWindow {
  #size = INITIAL_SIZE;

  /** Returns the first events as JSON: at least one, at most `maxCalls`, and as many as fit into the window. */
  select(events: unknown[], maxCalls: number): string[] {
    const selected: string[] = [];
    let bytes = 0;
    for (const event of events.slice(0, Math.max(1, Math.min(this.#size, maxCalls)))) {
      const json = JSON.stringify(event) ?? "null";
      bytes += Buffer.byteLength(json);
      if (selected.length > 0 && bytes > MAX_BYTES) break;
      selected.push(json);
    }
    return selected;
  }

  /**
   * Adjusts the size after a batch: `completed` of the calls that were `sent`, in `timeShare` of the permitted time.
   */
  adjust(sent: number, completed: number, timeShare: number): void {
    if (completed < sent) this.#size = Math.max(1, completed);
    else if (timeShare < 1 / GROWTH) this.#size = Math.min(MAX_SIZE, Math.max(this.#size, sent * GROWTH));
  }
}
