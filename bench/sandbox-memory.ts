/**
 * Calls many sources in turn through the sandbox processes of one worker, and prints time and memory:
 * `node --import tsx bench/sandbox-memory.ts [sources] [processes] [rounds]`. Figures are in
 * docs/performance.md#many-sandboxes.
 */
import { readdirSync, readFileSync } from "node:fs";
import { openSandboxes } from "../src/sandbox/host.ts";

const [sources = 1000, processes = 16, rounds = 2] = process.argv.slice(2).map(Number);
const OWNERS = 50;
const AT_ONCE = 8;

const sandboxes = await openSandboxes({
  limits: {
    wallMs: 30_000,
    heapMb: 256,
    maxEmits: 10_000,
    maxEmitBytes: 512 * 1024,
    maxLogBytes: 64 * 1024,
    maxDbBytes: 60 * 1024,
  },
  maxProcesses: processes,
  idleMs: 300_000,
  egress: { allow: [], blockedHosts: [] },
});

/** Returns the sum of proportional set sizes in MB: pages that sandboxes share (deno's own code) count once. */
function memoryOfSandboxes(): { processes: number; mb: number } {
  let found = 0;
  let kilobytes = 0;
  for (const id of readdirSync("/proc").filter(name => /^\d+$/.test(name))) {
    try {
      const [, parent] = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${id}/status`, "utf8")) ?? [];
      if (Number(parent) !== process.pid) continue;
      if (!readFileSync(`/proc/${id}/cmdline`, "utf8").includes("headwater-sandbox-")) continue;
      kilobytes += Number(/^Pss:\s*(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, "utf8"))?.[1] ?? 0);
      found += 1;
    } catch {
      // The process has ended since.
    }
  }
  return { processes: found, mb: kilobytes / 1024 };
}

let most = { processes: 0, mb: 0 };
const times: number[] = [];
let failed = 0;
let next = 0;
const startedAt = performance.now();
const watch = setInterval(() => {
  const now = memoryOfSandboxes();
  if (now.mb > most.mb) most = now;
}, 500);

async function callInTurn(): Promise<void> {
  for (let index = next++; index < sources * rounds; index = next++) {
    const source = index % sources;
    const code = `export default { name: "S${source}", version: "1",
      run(event) { this.$emit({ ...event, n: ${source} }); } };`;
    const calledAt = performance.now();
    const result = await sandboxes.call(
      `source-${source}`,
      { code, hash: String(source) },
      { call: "run", event: { at: index }, props: {}, db: {} },
      { owner: `owner-${source % OWNERS}` },
    );
    times.push(performance.now() - calledAt);
    if (result.error || result.emits.length !== 1) failed += 1;
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, callInTurn));
clearInterval(watch);
const seconds = (performance.now() - startedAt) / 1000;
times.sort((a, b) => a - b);
const at = (share: number) => Math.round(times[Math.floor(times.length * share)] ?? 0);
console.log(`${sources} sources through ${processes} processes, ${rounds} rounds: ${failed} failed`);
console.log(
  `${(times.length / seconds).toFixed(1)} calls/s, each in a new process; median ${at(0.5)} ms, p95 ${at(0.95)} ms`,
);
const workerMb = (process.memoryUsage.rss() / 1e6).toFixed(0);
console.log(`peak memory: ${most.mb.toFixed(0)} MB in ${most.processes} sandboxes; worker ${workerMb} MB`);
await sandboxes.close();
