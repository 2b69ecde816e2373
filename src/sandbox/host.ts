/**
 * Runs components, which are untrusted, each in its own deno process (docs/design.md#sandbox). The path of a call:
 *
 * 1. `SandboxHost.callBatch` passes it to the `CallRunner`, which acquires a process from the `Pool`: the warm process
 *    of its key, or a new one. While none is available, the call waits in its owner's turn.
 * 2. A new process is started by `spawnChild`. It gets a workspace on disk (`workspace.ts`), a gateway as its only
 *    network access (`egress/gateway.ts`), and reduced privileges (`privileges.ts`). deno runs the prelude, which is
 *    `child/` bundled into one file (`prelude.ts`). The first line that the host sends, `start`, contains a secret;
 *    every message of the child begins with it.
 * 3. `Sandbox.callBatch` sends one line, `calls`, with as many events as the `SendWindow` permits.
 * 4. The child (`child/main.ts`) calls the component once for each event. It writes `started`, then `emit`, `log` and
 *    `respond` while the component runs, and `ended` after each call. All messages are defined in `child/wire.ts`.
 * 5. The host splits the child's stdout into lines (`line-reader.ts`), checks the size and shape of each message
 *    (`check-message.ts`), and passes it to the `CallSequence`, which checks the order and collects a `CallRecord`.
 * 6. At each `ended`, `onResult` receives the call's result. After the last one, the process returns to the pool. A
 *    child that violates the protocol, a limit or the rules of the `watchdog` is killed, and the call under way fails.
 */

import { nanoid } from "nanoid";
import type { Logger } from "pino";
import { createDial, type Dial } from "../egress/dial.ts";
import { showPrivateAddress } from "../egress/private-addresses.ts";
import { AppError, invalidField } from "../lib/errors.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Bundle } from "./bundle.ts";
import {
  type BatchOptions,
  type CallOptions,
  CallRunner,
  killUnlessSettled,
  type LoadLimit,
  waitUntilLoaded,
} from "./call-runner.ts";
import { checkDescription } from "./check-message.ts";
import type { ChildLimits } from "./child/wire.ts";
import { Pool } from "./pool.ts";
import type { StartOptions } from "./pool-processes.ts";
import { NON_HEAP_MB, type PreparedSandboxes, prepareSandboxes } from "./prepare.ts";
import type { Privileges } from "./privileges.ts";
import {
  type BatchRequest,
  type CallError,
  type CallRequest,
  type CallResult,
  type ComponentDescription,
  isSandboxLost,
  withFrame,
} from "./protocol.ts";
import { Sandbox } from "./sandbox.ts";
import type { SandboxHealth } from "./sandbox-health.ts";
import type { DescribeOptions, Sandboxes, SandboxesOptions } from "./sandboxes.ts";
import { type Child, spawnChild } from "./spawn.ts";
import { startWatchdog } from "./watchdog.ts";

/** For a free process; loading the code has limits of its own. */
const DESCRIBE_MS = 30_000;
const CONNECT_MS = 10_000;
const MAX_RESPONSE_BYTES = 5 * 1024 * 1024;
/** For a busy source, the cost of one cold start in 10,000 calls can't be measured. */
const MAX_CALLS = 10_000;

/**
 * Opens the host that runs untrusted components, with what others share if that is given. Throws what `prepareSandboxes` throws.
 */
export async function openSandboxes(
  options: SandboxesOptions,
  shared?: PreparedSandboxes,
): Promise<Sandboxes> {
  const dial = createDial({ ...options.egress, connectTimeoutMs: CONNECT_MS });
  const prepared = shared ?? (await prepareSandboxes(options));
  logPrivileges(prepared.privileges, options.logger);
  const closePrepared = shared ? async () => undefined : () => prepared.close();
  return new SandboxHost(options, { ...prepared, dial, closePrepared });
}

interface HostResources extends Omit<PreparedSandboxes, "close"> {
  dial: Dial;
  closePrepared(): Promise<void>;
}

class SandboxHost implements Sandboxes {
  readonly privileges: Sandboxes["privileges"];
  readonly #resources: HostResources;
  readonly #heapMb: number;
  readonly #describeMs: LoadLimit | undefined;
  readonly #childLimits: ChildLimits;
  readonly #pool: Pool;
  readonly #runner: CallRunner;
  readonly #stopWatchdog: () => void;
  readonly #logger: Logger | undefined;
  readonly #metrics: Metrics | undefined;
  readonly #health: SandboxHealth | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SandboxesOptions, resources: HostResources) {
    const { heapMb, wallMs, cpuMs = wallMs, ...counted } = options.limits;
    const { maxProcesses, warm, sourcesPerProcess, idleMs, maxCalls = MAX_CALLS } = options;
    this.privileges = resources.privileges;
    this.#resources = resources;
    this.#heapMb = heapMb;
    this.#describeMs = options.describeMs;
    this.#childLimits = {
      ...counted,
      maxRunBytes: LIMITS.runBytes.value,
      maxRunParsedBytes: LIMITS.runParsedBytes.value,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      maxDepth: LIMITS.eventDepth.value,
      maxEmitParsedBytes: LIMITS.eventParsedBytes.value,
    };
    this.#logger = options.logger;
    this.#metrics = options.metrics;
    this.#health = options.health;
    this.#pool = new Pool({
      maxProcesses,
      ...(warm && { warm }),
      ...(sourcesPerProcess !== undefined && { maxKeysPerProcess: sourcesPerProcess }),
      idleMs,
      open: (bundle, start) => this.#openSandbox(bundle, start),
    });
    this.#runner = new CallRunner({ pool: this.#pool, wallMs, maxCalls, metrics: options.metrics });
    this.#stopWatchdog = startWatchdog({
      sandboxes: () => this.#pool.sandboxes(),
      memoryMb: heapMb + NON_HEAP_MB,
      cpuMs,
    });
  }

  async describe(bundle: Bundle, options: DescribeOptions = {}): Promise<ComponentDescription> {
    const timeout = AbortSignal.timeout(DESCRIBE_MS);
    // A process that was ended from outside says nothing about the code.
    const described =
      (await this.#describeOnce(bundle, options, timeout)) ??
      (await this.#describeOnce(bundle, options, timeout));
    if (described) return described;
    throw new AppError("unavailable", "the sandbox was ended from outside", { retryAfterMs: DESCRIBE_MS });
  }

  /** Returns undefined if the process was ended from outside. */
  async #describeOnce(
    bundle: Bundle,
    { owner, onEnded }: DescribeOptions,
    timeout: AbortSignal,
  ): Promise<ComponentDescription | undefined> {
    const slot = await this.#pool
      .acquire(`describe-${nanoid()}`, bundle, { owner, signal: timeout })
      .catch((error: unknown) => {
        if (!timeout.aborted) throw error;
        throw new AppError("unavailable", "all sandboxes are busy", { retryAfterMs: DESCRIBE_MS });
      });
    const startedAt = performance.now();
    try {
      const loadError = await waitUntilLoaded(slot.sandbox, slot.source, this.#describeMs);
      if (loadError) {
        if (isSandboxLost(loadError)) return undefined;
        const message = loadError.message + sizeIfTooLarge(loadError, bundle, this.#heapMb);
        throw invalidField("component", "code", withFrame(message, loadError.stack));
      }
      const described = await killUnlessSettled(slot.sandbox, slot.sandbox.describe(), this.#describeMs);
      if (described.state === "lost") return undefined;
      if (described.state === "rejected") {
        throw invalidField("component", described.path, described.message);
      }
      return checkDescription(described.description);
    } finally {
      onEnded?.(performance.now() - startedAt);
      this.#pool.release(slot, false);
    }
  }

  async call(
    key: string,
    bundle: Bundle,
    { event, ...request }: CallRequest,
    { onRespond, ...options }: CallOptions = {},
  ): Promise<CallResult> {
    const results: CallResult[] = [];
    await this.callBatch(
      key,
      bundle,
      { ...request, events: [event] },
      {
        ...options,
        startWithinMs: 0,
        onRespond: (_, response) => onRespond?.(response),
        onResult: (_, result) => results.push(result),
      },
    );
    return results[0] as CallResult;
  }

  callBatch(key: string, bundle: Bundle, request: BatchRequest, options: BatchOptions): Promise<number> {
    const { opened = [] } = options;
    if (opened.length === 0) return this.#runner.run(key, bundle, request, options);
    // What a process may reach is decided once: with another list, or none, it is another process, and none that others share.
    const ownKey = `${key}:${opened.map(showPrivateAddress).join()}`;
    return this.#runner.run(ownKey, bundle, request, { ...options, isShareable: false });
  }

  drop(keyPrefix: string): void {
    this.#pool.drop(keyPrefix);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  stats(): { warm: number; busy: number } {
    return this.#pool.stats();
  }

  /**
   * Throws `unavailable` if the system can't start a process: that is not the component's fault. Throws the bundle's own
   * AppError if that can't be read.
   */
  async #openSandbox(bundle: Bundle, start: StartOptions): Promise<Sandbox> {
    const startedAt = performance.now();
    const child = await this.#startChild(bundle, start).catch((error: unknown) => {
      if (error instanceof AppError) throw error;
      this.#logger?.error({ err: error }, "sandbox can't be started");
      this.#health?.startFailed(error);
      throw new AppError("unavailable", "no sandbox can be started", { cause: error, retryAfterMs: 5000 });
    });
    this.#health?.startSucceeded();
    const sandbox = new Sandbox(child, this.#childLimits);
    const observeStart = () =>
      this.#metrics?.observe("sandbox_start_seconds", (performance.now() - startedAt) / 1000);
    sandbox.load(0).then(observeStart, () => undefined);
    return sandbox;
  }

  async #startChild(bundle: Bundle, { isShared, opened }: StartOptions): Promise<Child> {
    const { privileges, folder, prelude, codeCache, bundleFiles, dial } = this.#resources;
    const modulePath = await bundleFiles.acquire(bundle);
    try {
      const child = await spawnChild({
        privileges,
        hostFolder: folder.path,
        prelude,
        cacheFolder: codeCache.folder(),
        modulePath,
        isShared,
        heapMb: this.#heapMb,
        limits: this.#childLimits,
        dial: (host, port, signal) => dial(host, port, signal, opened),
      });
      void child.gone.then(error => {
        this.#logger?.debug({ pid: child.pid, code: error.code, reason: error.message }, "sandbox ended");
        return bundleFiles.release(modulePath);
      });
      return child;
    } catch (error) {
      await bundleFiles.release(modulePath);
      throw error;
    }
  }

  async #close(): Promise<void> {
    this.#stopWatchdog();
    await this.#pool.close();
    await this.#resources.closePrepared();
  }
}

/** What the message of a process that ran out of memory says besides, if that may be for the size of the code. */
function sizeIfTooLarge({ code }: CallError, bundle: Bundle, heapMb: number): string {
  if (code !== "Out of Memory" || !("writeTo" in bundle) || bundle.bytes === undefined) return "";
  const megabytes = Math.ceil(bundle.bytes / 1024 ** 2);
  if (megabytes <= 1) return "";
  return ` (SIZES_MB=heap:${heapMb}) while its code was loaded: with its packages it has ${megabytes} MB`;
}

function logPrivileges({ active, missing, ids }: Privileges, logger: Logger | undefined): void {
  const fields = { active, missing, ...(ids && { user_ids: `${ids.first}-${ids.last}` }) };
  const names = [...active, ...missing.map(name => `without ${name}`)];
  const message = `sandbox privileges: ${names.join(", ")}`;
  if (missing.length === 0) logger?.info(fields, message);
  else logger?.warn(fields, message);
}
