import { parse, positive, runEntry, settingOf } from "./entry.ts";
import { machineLine, machineOf } from "./machine.ts";
import { startMeter } from "./meter.ts";
import { table } from "./report.ts";
import { storesOfEnvironment } from "./stores.ts";
import { quantile } from "./times.ts";
import { withHeadwater } from "./with-headwater.ts";

const HELP = `Usage: npm run bench:saves -- [options]

Measures POST /v1/components with Headwater's processes as in production, on stores of their own: components of one file
without packages, and with @pipedream/platform, which was installed before; one after the other, and several at once. At
the same time one caller reads GET /v1/users/me twenty times a second: how long that takes beside saves, as a share of how
long it takes without, before and after them.

  --saves N        components of each row (default 20)
  --at-once N      how many of them are saved at the same time in the last rows (default 4)
  --set NAME=VALUE a setting of Headwater; may be repeated`;

const SMALL = (n: number) => `export default { name: "Small ${n}", version: "0.0.1",
  run(event) { this.$emit({ n: ${n} }); } };`;
const LARGE = (n: number) => `import { axios } from "@pipedream/platform";
export default { name: "Large ${n}", version: "0.0.1",
  run(event) { this.$emit({ axios: typeof axios, n: ${n} }); } };`;

/** Time between two requests of the caller that saves nothing. */
const PROBE_EVERY_MS = 50;
/** Twice, before and after the saves. */
const QUIET_MS = 10_000;
const AIM_MS = { p50: 500, p95: 1500 };
/** The p95 of other calls beside saves, as a multiple of theirs without. */
const AIM_OF_QUIET = 2;

async function main(args: string[]): Promise<void> {
  const { values } = parse({
    args,
    options: {
      saves: { type: "string", default: "20" },
      "at-once": { type: "string", default: "4" },
      set: { type: "string", multiple: true, default: [] },
    },
  });
  const saves = positive(values.saves, "--saves");
  const atOnce = positive(values["at-once"], "--at-once");
  const stores = storesOfEnvironment();
  console.log(machineLine(machineOf(stores)));
  const settings = { ...registrySettings(), ...Object.fromEntries(values.set.map(settingOf)) };
  const { rows, quiet } = await withHeadwater({ stores, settings }, async ({ headwater }) => {
    const { api, watched } = headwater;
    let number = 0;
    const save = async (code: (n: number) => string) => {
      await api.expect(201, "POST", "/components", { body: { component_code: code(++number) } });
    };
    const measure = async (what: string, code: (n: number) => string, many: number) => {
      const stopMeter = startMeter(watched);
      const stopProbe = startProbe(() => api.expect(200, "GET", "/users/me"));
      const times = await timesOf(saves, many, () => save(code));
      const probe = await stopProbe();
      const { processes, elsewhere } = stopMeter();
      const seconds = processes.reduce((sum, one) => sum + one.cpuSeconds, 0);
      const web = processes.find(({ name }) => name === "web")?.cpuSeconds ?? 0;
      const cpu = [seconds, web].map(value => (value / saves).toFixed(2));
      return { cells: [what, ...cells(times), ...cpu], times, probe, elsewhere: percent(elsewhere) };
    };
    const readQuiet = async () => {
      const stop = startProbe(() => api.expect(200, "GET", "/users/me"));
      await new Promise(resolve => setTimeout(resolve, QUIET_MS));
      return stop();
    };
    // Loads what a save needs, and installs the packages.
    await save(SMALL);
    await save(LARGE);
    const before = await readQuiet();
    const rows = [
      await measure("small, in turn", SMALL, 1),
      await measure("packages, in turn", LARGE, 1),
      await measure(`small, ${atOnce} at once`, SMALL, atOnce),
      await measure(`packages, ${atOnce} at once`, LARGE, atOnce),
    ];
    const quiet = [...before, ...(await readQuiet())].sort((a, b) => a - b);
    return { rows, quiet };
  });
  const ofQuiet = (probe: number[]) => quantile(probe, 0.95) / quantile(quiet, 0.95);
  const head = [
    "saves",
    "p50 ms",
    "p95 ms",
    "CPU s each",
    "of web",
    "others p50 ms",
    "p95 ms",
    "of quiet",
    "machine elsewhere",
  ];
  const shown = rows.map(({ cells: own, probe, elsewhere }) => [
    ...own,
    ...cells(probe),
    `${ofQuiet(probe).toFixed(1)}x`,
    elsewhere,
  ]);
  console.log(table([head, ["nothing", "", "", "", "", ...cells(quiet), "", ""], ...shown]));
  const inTurn = rows[1]?.times ?? [];
  const isFast = quantile(inTurn, 0.5) <= AIM_MS.p50 && quantile(inTurn, 0.95) <= AIM_MS.p95;
  console.log(`aim with packages: p50 <= ${AIM_MS.p50} ms, p95 <= ${AIM_MS.p95} ms: ${verdict(isFast)}`);
  const most = Math.max(...rows.map(({ probe }) => ofQuiet(probe)));
  console.log(
    `aim for other calls: p95 <= ${AIM_OF_QUIET}x quiet in each row: ${verdict(most <= AIM_OF_QUIET)}`,
  );
}

const verdict = (isMet: boolean): string => (isMet ? "met" : "MISSED");
const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

/** What npm needs to reach its registry from here; the processes inherit nothing else. */
function registrySettings(): Record<string, string> {
  const names = /^(npm_config_\w+|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;
  const given = Object.entries(process.env).filter(([name]) => names.test(name));
  return Object.fromEntries(given.map(([name, value = ""]) => [name, value]));
}

const cells = (times: number[]) => [0.5, 0.95].map(q => quantile(times, q).toFixed(1));

/** Makes `count` calls, `many` at a time; returns their milliseconds, ascending. */
async function timesOf(count: number, many: number, call: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  let next = 0;
  const callInTurn = async () => {
    while (next++ < count) {
      const startedAt = performance.now();
      await call();
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: many }, callInTurn));
  return times.sort((a, b) => a - b);
}

/** Calls by the clock until it is stopped; the returned function returns the milliseconds of all calls, ascending. */
function startProbe(call: () => Promise<unknown>): () => Promise<number[]> {
  const times: number[] = [];
  const calls = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const startedAt = performance.now();
    const one = call()
      // A rejection counts as a call that never ends.
      .then(
        () => void times.push(performance.now() - startedAt),
        () => void times.push(Number.POSITIVE_INFINITY),
      )
      .finally(() => calls.delete(one));
    calls.add(one);
  }, PROBE_EVERY_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(calls);
    return times.sort((a, b) => a - b);
  };
}

await runEntry(HELP, main);
