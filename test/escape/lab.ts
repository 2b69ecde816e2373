import { readdir, readFile, readlink } from "node:fs/promises";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { dirname } from "node:path";
import { expect } from "chai";
import type { Bundle } from "../../src/sandbox/bundle.ts";
import type { CallOptions } from "../../src/sandbox/call-runner.ts";
import type { CallResult } from "../../src/sandbox/protocol.ts";
import type { Sandboxes, SandboxesOptions } from "../../src/sandbox/sandboxes.ts";
import { bundleOf, GET_DENO, openTestSandboxes, RUN, running } from "../sandbox/sandbox-fixture.ts";
import { until } from "../support/until.ts";

/** A sandbox host with attackers and a neighbour, and what the attackers must not reach. */
export interface Lab {
  sandboxes: Sandboxes;
  /** Port of a server on 127.0.0.1 and ::1 that must not be reached. */
  canaryPort: number;
  /** How many connections reached it. */
  canaryVisits(): number;
  /** A server in place of a public one: `http://127.0.0.2:port`. `/to?<url>` redirects to the URL. */
  publicUrl: string;
  /** The host's folder, and the neighbour's workspace in it. */
  hostFolder: string;
  neighbourWorkspace: string;
  /** Runs code in the attacker's process and emits its result as `escaped`. */
  attempt(code: string, options?: CallOptions): Promise<CallResult>;
  /** Runs a component in a new process. */
  attack(bundle: Bundle, options?: CallOptions): Promise<CallResult>;
  /** Fails unless the neighbour still responds from the same process. */
  expectNeighbourAlive(): Promise<void>;
  /** Also fails if anything of the attackers is left. */
  expectUnharmed(): Promise<void>;
  close(): Promise<void>;
}

/** The attacker's modules; the code of an attempt can use each by its name. */
const MODULES = [
  ["fs", "node:fs"],
  ["fsp", "node:fs/promises"],
  ["http", "node:http"],
  ["http2", "node:http2"],
  ["net", "node:net"],
  ["tls", "node:tls"],
  ["dns", "node:dns/promises"],
  ["dgram", "node:dgram"],
  ["cp", "node:child_process"],
  ["os", "node:os"],
  ["vm", "node:vm"],
  ["v8", "node:v8"],
  ["workers", "node:worker_threads"],
  ["cluster", "node:cluster"],
  ["nodeModule", "node:module"],
  ["url", "node:url"],
] as const;

const names = MODULES.map(([name]) => name);
const ATTACKER = bundleOf(`
  ${MODULES.map(([name, from]) => `import * as ${name} from "${from}";`).join("\n")}
  const AsyncFunction = (async () => {}).constructor;
  export default { name: "Attacker", version: "1", async run(event) {
    const attempt = new AsyncFunction("emit", "at", "Deno", ${names.map(name => JSON.stringify(name)).join(", ")}, event.code);
    ${GET_DENO}
    const value = await attempt.call(this, this.$emit, event.at, Deno, ${names.map(name => `${name}.default ?? ${name}`).join(", ")});
    this.$emit({ escaped: value === undefined ? "nothing" : value });
  } };`);

const NEIGHBOUR = running(
  "globalThis.count = (globalThis.count ?? 0) + 1; this.$emit([process.pid, globalThis.count])",
);

export async function openLab(options: Partial<SandboxesOptions> = {}): Promise<Lab> {
  let visits = 0;
  const canary = createServer(socket => {
    visits += 1;
    socket.destroy();
  });
  const canary6 = createServer(socket => {
    visits += 1;
    socket.destroy();
  });
  const canaryPort = await listen(canary, "127.0.0.1", 0);
  await listen(canary6, "::1", canaryPort);
  const outside = createHttpServer((request, response) => {
    const target = /^\/to\?(.*)$/.exec(request.url ?? "")?.[1];
    response.writeHead(target ? 302 : 200, {
      connection: "close",
      ...(target && { location: decodeURIComponent(target) }),
    });
    response.end("public");
  });
  const publicPort = await listen(outside, "127.0.0.2", 0);
  const sandboxes = await openTestSandboxes({
    maxProcesses: 4,
    egress: { allow: ["127.0.0.2/32"], blockedHosts: [], resolve },
    ...options,
  });

  const callNeighbour = async () => {
    const { error, emits } = await sandboxes.call("neighbour", NEIGHBOUR, RUN);
    expect(error).to.equal(undefined);
    return emits[0]?.event as [number, number];
  };
  let [pid, count] = await callNeighbour();
  const neighbourWorkspace = dirname(await readlink(`/proc/${pid}/cwd`));
  const hostFolder = dirname(neighbourWorkspace);
  // A host that has just started prepares its code cache in another process.
  await until(async () => (await processesOf(hostFolder)).length === 1, { what: "the code cache" });
  let number = 0;
  const at = {
    canaryPort,
    publicUrl: `http://127.0.0.2:${publicPort}`,
    hostFolder,
    neighbourWorkspace,
    neighbourPid: pid,
  };

  async function expectNeighbourAlive(): Promise<void> {
    const next = await callNeighbour();
    expect(next, "the neighbour's process and its state").to.deep.equal([pid, count + 1]);
    [pid, count] = next;
  }

  return {
    sandboxes,
    canaryPort,
    expectNeighbourAlive,
    publicUrl: at.publicUrl,
    hostFolder,
    neighbourWorkspace,
    canaryVisits: () => visits,
    attempt: (code, callOptions) =>
      sandboxes.call("attacker", ATTACKER, { ...RUN, event: { code, at } }, { wallMs: 6000, ...callOptions }),
    attack: (bundle, callOptions) =>
      sandboxes.call(`attacker-${++number}`, bundle, { ...RUN, event: at }, { wallMs: 6000, ...callOptions }),
    async expectUnharmed() {
      await expectNeighbourAlive();
      sandboxes.drop("attacker");
      await until(() => sandboxes.stats().warm === 1, { what: "the attackers are gone" });
      expect(await processesOf(hostFolder), "processes").to.deep.equal([pid]);
      await until(async () => (await workspacesIn(hostFolder)).length === 1, {
        what: "the attackers' folders are gone",
      });
      expect(visits, "connections to the canary").to.equal(0);
    },
    async close() {
      await sandboxes.close();
      for (const server of [canary, canary6, outside]) await new Promise(done => server.close(done));
    },
  };
}

/** Fails unless the call ended with an error and emitted nothing. */
export function expectDenied(result: CallResult, what: string): void {
  expect(result.emits, what).to.deep.equal([]);
  expect(result.error, what).to.be.an("object");
}

/** Returns what the code of an attempt returned, or throws what it threw. */
export function resultOf(result: CallResult): unknown {
  if (result.error) throw new Error(result.error.stack);
  return (result.emits.at(-1)?.event as { escaped?: unknown } | undefined)?.escaped;
}

/** Addresses that a hostile name server would return. */
const NAMES: Record<string, string[]> = {
  "loopback.test": ["127.0.0.1"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "nat64.test": ["64:ff9b::7f00:1"],
  "nat64-local.test": ["64:ff9b:1::7f00:1"],
  "sixtofour.test": ["2002:7f00:1::"],
  "six.test": ["::1"],
  "private.test": ["10.0.0.1", "192.168.1.1", "172.16.0.1"],
  "metadata.test": ["169.254.169.254"],
  "unspecified.test": ["0.0.0.0", "::"],
  "public.test": ["127.0.0.2"],
};
let lookups = 0;

function resolve(host: string): Promise<string[]> {
  // Public at the first lookup, loopback at all later ones.
  if (host === "rebinding.test") return Promise.resolve([lookups++ === 0 ? "127.0.0.2" : "127.0.0.1"]);
  if (/^[\d.]+$|:/.test(host)) return Promise.resolve([host]);
  if (host === "localhost" || host.endsWith(".localhost")) return Promise.resolve(["127.0.0.1", "::1"]);
  return Promise.resolve(NAMES[host] ?? []);
}

async function listen(server: Server | HttpServer, host: string, port: number): Promise<number> {
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(port, host, done);
  });
  return (server.address() as AddressInfo).port;
}

async function processesOf(hostFolder: string): Promise<number[]> {
  const found: number[] = [];
  for (const id of (await readdir("/proc")).filter(name => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "");
    if (command.includes(`${hostFolder}/`)) found.push(Number(id));
  }
  return found;
}

async function workspacesIn(hostFolder: string): Promise<string[]> {
  return (await readdir(hostFolder)).filter(name => /^\d+$/.test(name));
}
