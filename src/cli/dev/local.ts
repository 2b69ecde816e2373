import { parseCidrs } from "../../egress/address-rules.ts";
import { createEgress } from "../../egress/agent.ts";
import { openSandboxes, type Sandboxes, type SandboxLimits } from "../../sandbox/host.ts";
import type { LoadTools } from "./load.ts";

/** What work without stores needs of the settings; `main` reads them. */
export interface LocalSettings {
  version: string;
  cacheDir: string;
  npmEnvironment: NodeJS.ProcessEnv;
  limits: SandboxLimits;
  hookMs: number;
  httpResponseWaitMs: number;
  egressAllow: readonly string[];
  sandboxEgressAllow: readonly string[];
  /** Stores that a server of these settings would have: no component reaches them, whatever is allowed. */
  blockedHosts: readonly { host: string; port: number }[];
}

export interface Local extends LoadTools {
  sandboxes: Sandboxes;
  close(): Promise<void>;
}

/** The old code's process, the new one's, and one that describes. */
const PROCESSES = 3;
const CONNECT_MS = 10_000;

/**
 * Opens the real sandbox and the guarded way out for a component's address. Throws AppError when an entry of `allow` is
 * no CIDR.
 */
export async function openLocal(settings: LocalSettings, allow: readonly string[]): Promise<Local> {
  parseCidrs(allow);
  const { cacheDir, npmEnvironment, blockedHosts, limits, version } = settings;
  const egress = createEgress({
    allow: [...settings.egressAllow, ...allow],
    blockedHosts,
    connectTimeoutMs: CONNECT_MS,
    userAgent: `Headwater/${version}`,
  });
  const sandboxes = await openSandboxes({
    limits,
    maxProcesses: PROCESSES,
    // A timer of a day keeps the process that ran last no longer than it is of use.
    idleMs: 300_000,
    egress: { allow: [...settings.sandboxEgressAllow, ...allow], blockedHosts },
  });
  return {
    egress,
    sandboxes,
    bundling: { cacheDir, npmEnvironment },
    async close() {
      await sandboxes.close();
      await egress.close();
    },
  };
}
