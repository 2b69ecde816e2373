import { readlinkSync } from "node:fs";
import { loadCode } from "../src/components/stored-bundle.ts";
import type { Platform } from "../src/platform.ts";
import type { Bundle } from "../src/sandbox/bundle.ts";
import { startSystem } from "../test/support/system.ts";
import { descendantsOf, memoryMb } from "./meter.ts";
import { quantile, timesOf } from "./times.ts";

// Measures sandboxes alone, called as the runs worker calls them, without queue or records.

const COLD_STARTS = 12;
const WARM_RUNS = 500;

const SMALL = `export default { name: "Small", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body); } };`;
const LARGE = `import { axios } from "@pipedream/platform";
export default { name: "Large", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit({ axios: typeof axios }); } };`;

export interface SandboxFigure {
  what: string;
  measured: string;
  aim: string;
  isMet: boolean | undefined;
}

export async function measureSandbox(): Promise<SandboxFigure[]> {
  const system = await startSystem({ CONCURRENCY: `sandboxes:${COLD_STARTS + 4}` }, { workers: false });
  const api = await system.user();
  const bundleOf = async (code: string): Promise<Bundle> => {
    const component = await api.expect(201, "POST", "/components", { body: { component_code: code } });
    return (await loadCode(system.worker, component.id)).bundle;
  };
  try {
    const small = await bundleOf(SMALL);
    const cold = await coldStarts(system.worker, small);
    const memory = memoryOfSandboxes();
    const warm = await warmRuns(system.worker, small);
    return [
      timed("cold start, small component", cold, 150),
      timed("cold start, with @pipedream/platform", await largeStarts(system.worker, bundleOf), 350),
      timed("warm run, whole call", warm, 2),
      { what: "memory of a warm sandbox", measured: memory, aim: "", isMet: undefined },
    ];
  } finally {
    await system.stop();
  }
}

const REQUEST = {
  call: "run",
  event: { body: { n: 1 } },
  props: { http: {} },
  db: {},
} as const;

/** Starts a process for each call, which stays warm; the first start also reads deno's files from disk. */
async function coldStarts(platform: Platform, bundle: Bundle): Promise<number[]> {
  const sandboxes = await platform.sandboxes();
  const times: number[] = [];
  for (let n = 0; n < COLD_STARTS; n++) {
    const startedAt = performance.now();
    const { error } = await sandboxes.call(`${bundle.hash}-${n}`, bundle, REQUEST);
    if (error) throw new Error(error.message);
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b);
}

/** Returns null if the packages can't be installed. */
async function largeStarts(
  platform: Platform,
  bundleOf: (code: string) => Promise<Bundle>,
): Promise<number[] | null> {
  const bundle = await bundleOf(LARGE).catch((error: Error) => {
    console.log(`@pipedream/platform can't be installed here: ${error.message}`);
    return null;
  });
  return bundle && (await coldStarts(platform, bundle));
}

async function warmRuns(platform: Platform, bundle: Bundle): Promise<number[]> {
  const sandboxes = await platform.sandboxes();
  return await timesOf(WARM_RUNS, () => sandboxes.call(`${bundle.hash}-0`, bundle, REQUEST));
}

function memoryOfSandboxes(): string {
  const all = descendantsOf(process.pid).filter(isDeno).map(memoryMb);
  const median = (values: number[]) =>
    quantile(
      values.sort((a, b) => a - b),
      0.5,
    ).toFixed(0);
  const [rss, share] = [median(all.map(one => one.rss)), median(all.map(one => one.share))];
  return `${rss} MB RSS, ${share} MB proportional (median of ${all.length})`;
}

function isDeno(pid: number): boolean {
  try {
    return /deno/.test(readlinkSync(`/proc/${pid}/exe`));
  } catch {
    return false;
  }
}

function timed(what: string, times: number[] | null, aimMs: number): SandboxFigure {
  const aim = `<= ${aimMs} ms`;
  if (times === null) return { what, measured: "not measured", aim, isMet: undefined };
  const median = quantile(times, 0.5);
  const measured = `median ${median.toFixed(2)} ms, p95 ${quantile(times, 0.95).toFixed(2)} ms`;
  return { what, measured, aim, isMet: median <= aimMs };
}
