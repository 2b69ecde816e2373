import type { Logger } from "pino";
import type { DialOptions } from "../egress/dial.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Bundle } from "./bundle.ts";
import type { BatchOptions, CallOptions, LoadLimit } from "./call-runner.ts";
import type { BatchRequest, CallRequest, CallResult, ComponentDescription } from "./protocol.ts";
import type { SandboxHealth } from "./sandbox-health.ts";
import type { WarmRoom } from "./warm-room.ts";

export interface SandboxLimits {
  /** Wall-clock time of one call. */
  wallMs: number;
  heapMb: number;
  /** Processor time of one call, all threads together; by default the same as `wallMs`. */
  cpuMs?: number;
  /** Events of one call. */
  maxEmits: number;
  /** JSON bytes of one event. */
  maxEmitBytes: number;
  /** Bytes of the log lines of one call. */
  maxLogBytes: number;
  /** JSON bytes of the whole `$.service.db`. */
  maxDbBytes: number;
}

export interface DescribeOptions {
  owner?: string;
  /** Called with the milliseconds that the code had a sandbox for, whatever came of it. */
  onEnded?: (ms: number) => void;
}

export interface Sandboxes {
  /**
   * Evaluates the component's code and returns its description. Takes at most 10 s. Throws AppError `invalid` with the
   * component's own message if it can't be evaluated, and `unavailable` if all sandboxes are busy or can't start, or if the process is ended from outside twice.
   */
  describe(bundle: Bundle, options?: DescribeOptions): Promise<ComponentDescription>;
  /**
   * Calls the component in the process that is kept warm for `key` (source id + bundle hash). The calls of one key must
   * not overlap. Resolves whatever the component does; rejects with `unavailable` if no process can be started.
   */
  call(key: string, bundle: Bundle, request: CallRequest, options?: CallOptions): Promise<CallResult>;
  /**
   * Calls the component once for each event, in order, as `call` does. Each call sees the db as the previous one left
   * it. The first event is always handled, the following ones as long as there is time. Resolves with the number of
   * calls, which is at least 1; by then `onResult` has received the result of each.
   */
  callBatch(key: string, bundle: Bundle, request: BatchRequest, options: BatchOptions): Promise<number>;
  /** Ends the warm processes whose keys start with the prefix; a busy process is ended after its call. */
  drop(keyPrefix: string): void;
  /** Ends all processes. Calls under way end with the error code `Cancelled`. */
  close(): Promise<void>;
  stats(): { warm: number; busy: number };
  /**
   * Names of the operating system's restrictions that would contain an escape from deno: `active` are in force,
   * `missing` are not supported on this system.
   */
  privileges: { active: readonly string[]; missing: readonly string[] };
}

export interface SandboxesOptions {
  limits: SandboxLimits;
  /** Most processes that are in use at a time. */
  maxProcesses: number;
  /** Most further processes that stay warm; by default none. */
  warm?: WarmRoom;
  /** Most sources that share a process, if a call permits it; by default 1, so that none do. */
  sourcesPerProcess?: number;
  /** A warm process is ended after being idle for this many milliseconds. */
  idleMs: number;
  egress: Omit<DialOptions, "connectTimeoutMs">;
  /**
   * If the worker is root, sandboxes run as user ids of a block of a thousand that starts here, or of the next block
   * that no other host uses.
   */
  firstUserId?: number;
  /** Milliseconds that evaluating a component's code to describe it may take; by default those of every start. */
  describeMs?: LoadLimit;
  /** A process is ended after this many calls, which frees the memory that a component has accumulated. */
  maxCalls?: number;
  logger?: Logger;
  /** Receives how long calls wait for a process, and how long cold starts take. */
  metrics?: Metrics | undefined;
  /** Learns whether sandboxes can be started. */
  health?: SandboxHealth | undefined;
}
