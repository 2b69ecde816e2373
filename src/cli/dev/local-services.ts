import { parseCidrs } from "../../egress/address-rules.ts";
import { createEgress } from "../../egress/agent.ts";
import type { DialOptions } from "../../egress/dial.ts";
import { openSandboxes } from "../../sandbox/host.ts";
import type { Sandboxes, SandboxLimits } from "../../sandbox/sandboxes.ts";
import type { LoadTools } from "./load.ts";

/** The settings that `headwater dev` needs; `main.ts` reads them. */
export interface LocalSettings {
  version: string;
  cacheDir: string;
  npmEnvironment: NodeJS.ProcessEnv;
  npmrc: string | undefined;
  npmHosts: readonly string[];
  limits: SandboxLimits;
  hookMs: number;
  httpResponseWaitMs: number;
  egress: Pick<DialOptions, "blocked" | "blockedPorts" | "ownUrls">;
  egressAllow: readonly string[];
  sandboxEgressAllow: readonly string[];
  /** Stores that a server with these settings would use: a component never reaches them, whatever is allowed. */
  blockedHosts: readonly { host: string; port: number }[];
}

/** What a source needs besides its code: the sandbox, and guarded requests for components with a URL. */
export interface LocalServices extends LoadTools {
  sandboxes: Sandboxes;
  close(): Promise<void>;
}

/** One each for the old code, the new code, and the description of a component. */
const MAX_PROCESSES = 3;
/** With a timer of a day, the process of the last run would otherwise stay all day. */
const IDLE_MS = 300_000;
const CONNECT_MS = 10_000;

/** Opens the sandbox that deployed sources use, and guarded egress. Throws AppError if `allow` has an invalid CIDR. */
export async function openLocalServices(
  settings: LocalSettings,
  allow: readonly string[],
): Promise<LocalServices> {
  parseCidrs(allow);
  const { cacheDir, npmEnvironment, npmrc, npmHosts, blockedHosts, limits, version } = settings;
  const egress = createEgress({
    ...settings.egress,
    allow: [...settings.egressAllow, ...allow],
    blockedHosts,
    connectTimeoutMs: CONNECT_MS,
    userAgent: `Headwater/${version}`,
  });
  const sandboxes = await openSandboxes({
    limits,
    maxProcesses: MAX_PROCESSES,
    idleMs: IDLE_MS,
    egress: { ...settings.egress, allow: [...settings.sandboxEgressAllow, ...allow], blockedHosts },
  });
  return {
    egress,
    sandboxes,
    bundling: { cacheDir, npmEnvironment, npmrc, npmHosts },
    async close() {
      await sandboxes.close();
      await egress.close();
    },
  };
}
