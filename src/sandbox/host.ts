import { nanoid } from "nanoid";
import type { Logger } from "pino";
import { createDial, type DialOptions } from "../egress/dial.ts";
import { AppError, invalidField } from "../lib/errors.ts";
import type { Bundle } from "./bundle.ts";
import { openBundleFiles } from "./bundle-files.ts";
import type { CallOptions, CallsOptions } from "./call-options.ts";
import { checkDescription } from "./check-description.ts";
import { findDeno } from "./deno-binary.ts";
import { openSandboxHome } from "./home.ts";
import { createPool } from "./pool.ts";
import { writePrelude } from "./prelude.ts";
import { findPrivileges, type Privileges } from "./privileges.ts";
import type { CallError, CallRequest, CallResult, CallsRequest, ComponentDescription } from "./protocol.ts";
import { openSandbox } from "./sandbox.ts";
import { createServe, MAX_PROCESS_CPU_MS } from "./serve.ts";
import { ended, spawnChild } from "./spawn.ts";
import { warmUp } from "./warm-up.ts";
import { DISK, startWatchdog } from "./watchdog.ts";

export interface SandboxLimits {
  /** Of one call. */
  wallMs: number;
  heapMb: number;
  /** Processor time of one call, all threads together; as long as the wall clock's where it is absent. */
  cpuMs?: number;
  /** Of one call: events, JSON bytes of each, bytes of log lines. */
  maxEmits: number;
  maxEmitBytes: number;
  maxLogBytes: number;
  /** JSON bytes of `$.service.db` in all. */
  maxDbBytes: number;
}

export interface Sandboxes {
  /** What the component says of itself. Throws AppError `invalid` with its own message, within 10 s. */
  describe(bundle: Bundle, options?: Pick<CallOptions, "owner">): Promise<ComponentDescription>;
  /**
   * Calls the component in the process that `key` (source id + bundle hash) keeps warm. The caller keeps the calls of
   * one key serial. Whatever the component does, this resolves; it rejects only when the host itself is broken.
   */
  call(key: string, bundle: Bundle, request: CallRequest, options?: CallOptions): Promise<CallResult>;
  /**
   * As `call`, for events in their order, each with the db that the one before left: the first, and as many more as
   * there is time for. Answers how many were called, which is one at least; each has its result by then.
   */
  calls(key: string, bundle: Bundle, request: CallsRequest, options: CallsOptions): Promise<number>;
  /** Ends the warm processes whose key starts so, a busy one after its call. */
  drop(keyPrefix: string): void;
  /** Ends all processes; calls under way end as `Cancelled`. */
  close(): Promise<void>;
  stats(): { warm: number; busy: number };
  /** In words, what the system grants against an escape from deno, and what it does not. */
  privileges: { holds: readonly string[]; lacks: readonly string[] };
}

export interface SandboxesOptions {
  limits: SandboxLimits;
  /** Processes alive at a time, idle ones included. */
  maxProcesses: number;
  /** After which a warm process is ended. */
  idleMs: number;
  egress: Pick<DialOptions, "allow" | "blockedHosts" | "resolve">;
  /** Of the user ids that sandboxes run as when the worker is root; a thousand from here on, or from a later thousand. */
  firstUserId?: number;
  /** After which a process is ended, so that what a component piles up in its memory does not live for ever. */
  maxCalls?: number;
  logger?: Logger;
}

const DESCRIBE_MS = 10_000;
const CONNECT_MS = 10_000;
/** Of all events of one call together: they are held in the worker's memory until it ends. */
const MAX_RUN_BYTES = 64 * 1024 * 1024;
const MAX_RESPONSE_BYTES = 5 * 1024 * 1024;
/** Beyond what a distribution or a directory service gives to people. */
const FIRST_USER_ID = 200_000;
/** A cold start each 10,000 calls costs a busy source nothing that could be measured. */
const MAX_CALLS = 10_000;
/** deno itself, compiled code and a fair share of buffers, which lie outside the heap that V8 limits. */
const BESIDES_HEAP_MB = 192;
/** What V8 reserves without using it, measured 580 MB, counts for the kernel's limit; and it shall come after ours. */
const RESERVED_MB = 768;

/** Opens the seam that runs untrusted components (design.md, "Component runtime"). */
export async function openSandboxes(options: SandboxesOptions): Promise<Sandboxes> {
  const { heapMb, wallMs, cpuMs = wallMs, ...counted } = options.limits;
  const { maxCalls = MAX_CALLS, firstUserId = FIRST_USER_ID, logger } = options;
  const memoryMb = heapMb + BESIDES_HEAP_MB;
  const limits = { ...counted, maxRunBytes: MAX_RUN_BYTES, maxResponseBytes: MAX_RESPONSE_BYTES };
  const deno = findDeno();
  const dial = createDial({ ...options.egress, connectTimeoutMs: CONNECT_MS });
  const home = await openSandboxHome();
  const prelude = await writePrelude(home.path);
  const privileges = await findPrivileges({
    deno,
    home: home.path,
    firstUserId,
    limits: {
      cpuSeconds: Math.ceil((MAX_PROCESS_CPU_MS + 4 * Math.max(wallMs, cpuMs)) / 1000),
      dataMb: memoryMb + RESERVED_MB,
      fileMb: DISK.maxBytes / 1024 / 1024,
    },
  });
  tell(privileges, logger);
  const warming = warmUp({ deno, home: home.path, prelude, heapMb });
  const files = openBundleFiles(`${home.path}/bundles`);

  async function open(bundle: Bundle) {
    const modulePath = await files.keep(bundle);
    const child = await spawnChild({
      privileges,
      home: home.path,
      prelude,
      cacheFolder: warming.cacheFolder(),
      modulePath,
      heapMb,
      limits,
      dial,
    });
    void child.gone.then(error => {
      logger?.debug({ pid: child.pid, code: error.code, reason: error.message }, "sandbox ended");
      return files.forget(modulePath);
    });
    return openSandbox(child, limits);
  }

  const pool = createPool({ maxProcesses: options.maxProcesses, idleMs: options.idleMs, open });
  const stopWatchdog = startWatchdog({ sandboxes: pool.sandboxes, memoryMb, cpuMs });

  const calls = createServe({ pool, wallMs, maxCalls });

  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    stopWatchdog();
    warming.stop();
    await Promise.all([pool.close(), warming.done]);
    await privileges.close();
    await home.close();
  }

  return {
    async describe(bundle, { owner } = {}) {
      const limit = AbortSignal.timeout(DESCRIBE_MS);
      const slot = await pool
        .acquire(`describe-${nanoid()}`, bundle, { owner, signal: limit })
        .catch((error: unknown) => {
          if (!limit.aborted) throw error;
          throw new AppError("unavailable", "all sandboxes are busy", { retryAfterMs: DESCRIBE_MS });
        });
      const onLate = () => slot.sandbox.kill(ended("Timeout", "its code was not evaluated within 10 s"));
      limit.addEventListener("abort", onLate);
      try {
        const loaded = await slot.sandbox.loaded;
        if (loaded.state === "failed") throw invalidField("component", "code", withPlace(loaded.error));
        const said = await slot.sandbox.describe();
        if (said.state === "refused") throw invalidField("component", said.path, said.message);
        return checkDescription(said.description);
      } finally {
        limit.removeEventListener("abort", onLate);
        pool.release(slot, false);
      }
    },
    async call(key, bundle, { event, ...request }, { onRespond, ...options } = {}) {
      const results: CallResult[] = [];
      await calls(
        key,
        bundle,
        { ...request, events: [event] },
        {
          ...options,
          forMs: 0,
          onRespond: (_, response) => onRespond?.(response),
          onResult: (_, result) => results.push(result),
        },
      );
      return results[0] as CallResult;
    },
    calls,
    drop: pool.drop,
    close() {
      closing ??= close();
      return closing;
    },
    stats: pool.stats,
    privileges,
  };
}

/** What was thrown while the module was evaluated, with the first place of it in the component's own files. */
function withPlace({ message, stack }: CallError): string {
  const place = /^\s+at .*?([^\s(]+:\d+:\d+)\)?$/m.exec(stack)?.[1];
  return place ? `${message} (at ${place})` : message;
}

function tell({ holds, lacks, ids }: Privileges, logger: Logger | undefined): void {
  const about = { holds, lacks, ...(ids && { user_ids: `${ids.first}-${ids.last}` }) };
  if (lacks.length === 0) logger?.info(about, `sandbox privileges: ${holds.join(", ")}`);
  else
    logger?.warn(
      about,
      `sandbox privileges: ${[...holds, ...lacks.map(name => `without ${name}`)].join(", ")}`,
    );
}
