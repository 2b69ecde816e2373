import { LIMITS as BOUNDS } from "../../src/limits/catalogue.ts";
import type { Bundle } from "../../src/sandbox/bundle.ts";
import { openSandboxes } from "../../src/sandbox/host.ts";
import type { CallRequest } from "../../src/sandbox/protocol.ts";
import type { Sandboxes, SandboxesOptions } from "../../src/sandbox/sandboxes.ts";
import { openSharedSandboxes } from "../support/shared-sandboxes.ts";

export const LIMITS = {
  wallMs: 8000,
  heapMb: 128,
  maxEmits: BOUNDS.emits.value,
  maxEmitBytes: BOUNDS.emitBytes.value,
  maxLogBytes: BOUNDS.logBytes.value,
  maxDbBytes: BOUNDS.databaseBytes.value,
};

const OPTIONS: SandboxesOptions = {
  limits: LIMITS,
  maxProcesses: 2,
  idleMs: 60_000,
  egress: { allow: [], blockedHosts: [] },
};

export function openTestSandboxes(overrides: Partial<SandboxesOptions> = {}): Promise<Sandboxes> {
  return openSharedSandboxes({ ...OPTIONS, ...overrides });
}

/** Opens a host that prepares everything itself, as in a process of its own. */
export const openOwnSandboxes = (): Promise<Sandboxes> => openSandboxes(OPTIONS);

export const bundleOf = (code: string): Bundle => ({ code, hash: "test" });

/** Code that gets what is hidden from components, as if it were a module of deno's own: no wall depends on the hiding. */
export const GET_DENO = `const Deno = process.getBuiltinModule("node:vm").runInThisContext("Deno", { filename: "ext:attacker" });`;

/** Returns a component whose `run` has this body. */
export const running = (body: string, rest = ""): Bundle =>
  bundleOf(`export default { name: "Test", version: "0.0.1", ${rest} async run(event) { ${body} } };`);

export const RUN: CallRequest = { call: "run", event: {}, props: {}, db: {} };
