// runs-long: npm test has test/store/schema and the jobs of older versions

import { expect } from "chai";
import { headwater } from "../cli/command.ts";
import { EVENTS, type Lab, openLab, PROCESSES, type ProcessName } from "../faults/lab.ts";
import { type Load, startLoad } from "../faults/load.ts";
import { root } from "../support/built.ts";
import { skipBecause } from "../support/skip.ts";
import { until } from "../support/until.ts";
import { recordJobs } from "./record.ts";
import { buildNext, PREVIOUS, previousFolder } from "./releases.ts";
import { startTimers } from "./timers.ts";

/** `npm run test:upgrade`: with the processes of the release before, which git has, too. */
const isFull = process.env.UPGRADE === "full";
const TIMERS = isFull ? 4 : 1;
/** No process is killed here, and one that a busy machine holds up must not lose its jobs to another. */
const UNHURRIED = { TIMEOUTS: "stalled:30s,attempt:2s" };
/** The same, and the lab's limits, as the release before reads them; it does not know what `FREE_LIMITS` may have now. */
const BEFORE = {
  FREE_LIMITS: "",
  STALLED_AFTER: "30s",
  DELIVERY_TIMEOUT: "2s",
  FREE_DAILY_INVOCATIONS: String(1e9),
  FREE_DAILY_COMPUTE_MS: String(1e12),
  RATE_LIMIT_PER_SECOND: "10000",
  RATE_LIMIT_BURST: "20000",
};
const WORKERS: ProcessName[] = ["runs", "emissions", "deliveries"];

/** A release to which some processes change while events are sent. */
interface Phase {
  title: string;
  processes: readonly ProcessName[];
  /** Its folder. */
  folder: string;
  before?: () => Promise<unknown>;
}

/** Ends processes in an orderly way and starts those of another release, one after the other. */
async function replace(lab: Lab, { processes, folder, title }: Phase): Promise<void> {
  for (const name of processes) {
    expect(await lab.stop(name), `${name} before ${title}`).to.equal(0);
    lab.spawn(name, {}, folder);
    await lab.ready(name);
    if (name === "web") expect(await knowsSchema(lab), title).to.equal(!folder.includes(PREVIOUS));
  }
}

/** True for a web process of a release with schemas: it shows which test runs which. */
async function knowsSchema({ env }: Lab): Promise<boolean> {
  const response = await until(async () => {
    const one = await fetch(`http://127.0.0.1:${env.PORT}/readyz`, {
      headers: { authorization: `Bearer ${env.METRICS_TOKEN}` },
    });
    return one.ok && one;
  });
  return "schema" in ((await response.json()) as object);
}

/** What a test closes at its end, whatever became of it. */
const closing: (() => Promise<void>)[] = [];

/** Jobs that were given up, of all queues, with the reason. */
async function failedJobs({ platform }: Lab): Promise<string[]> {
  const failed = await Promise.all([...platform.queues.values()].map(queue => queue.getFailed(0, 9)));
  return failed
    .flat()
    .map(
      ({ queueName, name, opts, attemptsMade, attemptsStarted, failedReason }) =>
        `${queueName} ${name} ${JSON.stringify(opts)} made ${attemptsMade}, started ${attemptsStarted}: ${failedReason}`,
    );
}

/** Sends events while the phases follow each other; returns what was lost, and what came twice. */
async function upgrade(lab: Lab, name: string, phases: Phase[]): Promise<void> {
  const startedAt = Date.now();
  const timers = await startTimers(lab, TIMERS);
  closing.push(timers.close);
  await timers.tick();
  const load = startLoad(lab, name);
  for (const [done, phase] of phases.entries()) {
    await phase.before?.();
    await replace(lab, phase);
    load.allow((done + 1) / (phases.length + 1));
    await moved(load);
    await timers.tick();
    expect(await failedJobs(lab), `failed jobs after ${phase.title}`).to.deep.equal([]);
    if (isFull) console.log(`    ${phase.title}: ${load.arrived()} deliveries so far`);
  }
  const { ticks, missed, doubled } = await timers.stop();
  const { lost, repeats } = await load.finish();
  if (isFull) {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    console.log(
      `    ${EVENTS} events and ${ticks} ticks of ${TIMERS} timers (${missed} moments passed while no worker ran): ${lost.length} lost, ${repeats} repeats, ${doubled.length} ticks doubled, ${seconds} s`,
    );
  }
  expect(lost, "lost").to.deep.equal([]);
  expect(repeats, "repeats").to.equal(0);
  expect(doubled, "ticks that came twice").to.deep.equal([]);
  expect(await failedJobs(lab), "failed jobs").to.deep.equal([]);
}

/** Resolves once a good part of what was allowed has arrived. */
async function moved(load: Load): Promise<void> {
  const from = load.arrived();
  await until(() => load.isSent() || load.arrived() > from + EVENTS / 20, {
    timeoutMs: 180_000,
    what: "deliveries",
  });
}

describe("an upgrade under load", function () {
  this.timeout(isFull ? 1_800_000 : 300_000);
  let lab: Lab | undefined;
  afterEach(async () => {
    await lab?.close();
    lab = undefined;
    for (const close of closing.splice(0)) await close();
  });

  it("from a release with older jobs: its workers leave newer jobs to the next ones, and nothing is lost", async () => {
    const next = buildNext();
    try {
      lab = await openLab({ env: UNHURRIED });
      const current = lab;
      const load = startLoad(current, "next");
      await replace(current, { title: "the next web", processes: ["web"], folder: next.folder });
      // They are of this release, and leave what the new web process enqueues.
      load.allow(0.5);
      const waiting = async () => {
        const queues = ["runs", "emissions"].map(name => current.platform.queues.get(name));
        const jobs = await Promise.all(queues.map(async queue => (await queue?.getDelayed(0, 20)) ?? []));
        const isLeft = jobs.map(list =>
          list.some(({ opts, attemptsStarted }) => "v" in opts && opts.v === 2 && attemptsStarted > 0),
        );
        return isLeft.every(Boolean);
      };
      await until(waiting, { what: "jobs of the next release to wait" });
      expect(await failedJobs(current)).to.deep.equal([]);
      for (const name of WORKERS)
        await replace(current, { title: `the next ${name}`, processes: [name], folder: next.folder });
      const { lost, repeats } = await load.finish();
      expect(lost, "lost").to.deep.equal([]);
      expect(repeats, "repeats").to.equal(0);
      expect(await failedJobs(current)).to.deep.equal([]);
    } finally {
      await lab?.close();
      lab = undefined;
      next.remove();
    }
  });

  it("from the release before, and back to it: old workers under the new web process, and the reverse", async function () {
    if (!isFull) skipBecause(this, "it needs a build of the release before: npm run test:upgrade");
    const old = previousFolder();
    lab = await openLab({ folder: old, env: UNHURRIED, folderEnv: BEFORE });
    if (process.env.UPGRADE_RECORD) await recordJobs(lab);
    const { env } = lab;
    const migrate = async () => {
      const { code, stdout, stderr } = await headwater(["migrate"], env);
      expect(code, stderr).to.equal(0);
      console.log(`    headwater migrate: ${stdout.trim().split("\n").at(-1)}`);
    };
    await upgrade(lab, "upgrade", [
      { title: "the new web process, old workers", processes: ["web"], folder: root, before: migrate },
      { title: "new workers", processes: WORKERS, folder: root },
      { title: "the old web process, new workers", processes: ["web"], folder: old },
      { title: "old workers again", processes: WORKERS, folder: old },
      { title: "old web process, each new worker in turn", processes: WORKERS, folder: root },
      { title: "all new", processes: PROCESSES, folder: root },
    ]);
  });
});
