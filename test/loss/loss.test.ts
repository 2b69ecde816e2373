// runs-alone: kills the Redis of an installation under load
// runs-long: npm test has test/store/connections/replicas.test.ts and test/accepted

import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { until } from "../support/until.ts";
import { type LossLab, type Outcome, openLossLab } from "./lab.ts";
import { openRedisPair, type RedisPair } from "./pair.ts";

const isFull = process.env.LOSS === "full";
/** Accepted before replication stops, and, with a backlog, after it. */
const [BEFORE, AFTER] = isFull ? [2000, 500] : [100, 40];
/** How long nothing is replicated before the master is killed. */
const STOPPED_MS = 1500;

const FAULTS = {
  cut: "replication cut, then kill -9",
  hang: "replication hangs, then kill -9",
  emptied: "all data of Redis deleted",
};

interface Case {
  title: string;
  how: keyof typeof FAULTS;
  settings?: Record<string, string>;
  args?: string[];
  /** What the settings promise: `moment`, what was on its way to the replica; `some` if it is known to lose. */
  loses: "nothing" | "moment" | "bounded" | "some";
  isShort?: true;
  /** Workers go on while nothing is replicated; by default they stand still, so that what is accepted waits. */
  isWorking?: true;
}

const MIN_REPLICAS = ["--min-replicas-to-write", "1", "--min-replicas-max-lag", "2"];
const settingsOf: Omit<Case, "how">[] = [
  { title: "default", loses: "some", isShort: true },
  // What was sent to the replica and not read yet is lost with the link.
  { title: "min-replicas-to-write 1", args: MIN_REPLICAS, loses: "moment", isShort: true },
  {
    title: "DURABLE_INGRESS=replicas:1",
    settings: { DURABLE_INGRESS: "replicas:1" },
    loses: "nothing",
    isShort: true,
  },
  {
    title: "DURABLE_INGRESS=mongodb",
    settings: { DURABLE_INGRESS: "mongodb" },
    loses: "nothing",
    isShort: true,
  },
];
const onlyFull = ({ isShort: _, ...one }: Omit<Case, "how">) => one;
const cases: Case[] = [
  ...settingsOf.map((one): Case => ({ ...one, how: "cut" })),
  // A replica that hangs is noticed by its silence only, and `min-replicas-max-lag` allows for some of that.
  ...settingsOf.map((one): Case => {
    return { ...onlyFull(one), how: "hang", ...(one.args && { loses: "bounded" as const }) };
  }),
  ...settingsOf
    // Replicas delete with their master.
    .filter(({ title, settings }) => title === "default" || settings?.DURABLE_INGRESS === "mongodb")
    .map(
      (one): Case => ({ ...onlyFull(one), how: "emptied", ...(one.settings && { isShort: true as const }) }),
    ),
  ...settingsOf.map(
    (one): Case => ({
      ...onlyFull(one),
      how: "cut",
      isWorking: true,
      ...(one.loses === "some" && { loses: "bounded" as const }),
    }),
  ),
];

/** At once, so that what ends early has shown what it measured. */
function print(line: string): void {
  if (process.env.LOSS) console.log(line);
}

describe("a Redis that loses what it was given", function () {
  this.timeout(10 * 60_000);
  before(() => print("| fault | settings | accepted | lost | doubled | 503 |\n|---|---|---|---|---|---|"));

  async function run(one: Case): Promise<Outcome> {
    const { settings = {}, args = [] } = one;
    const pair: RedisPair = await openRedisPair(args);
    let lab: LossLab | undefined;
    try {
      lab = await openLossLab({ REDIS_URL: pair.url, ...settings });
      return await loseMaster(lab, pair, one);
    } finally {
      await lab?.close();
      await pair.close();
    }
  }

  async function loseMaster(lab: LossLab, pair: RedisPair, { how, isWorking }: Case): Promise<Outcome> {
    const accepts = (events: number) =>
      until(() => lab.accepted() >= events, { what: `${events} accepted events` });
    lab.start();
    await accepts(BEFORE);
    if (!isWorking) process.kill(lab.worker.pid ?? 0, "SIGSTOP");
    await accepts(lab.accepted() + AFTER);
    if (how === "emptied") await pair.master.ask("FLUSHALL");
    else await failOver(lab, pair, how);
    if (!isWorking) process.kill(lab.worker.pid ?? 0, "SIGCONT");
    if (how !== "emptied") await pair.rejoin();
    await accepts(lab.accepted() + AFTER);
    await lab.stop();
    return await lab.count();
  }

  async function failOver(lab: LossLab, pair: RedisPair, how: "cut" | "hang"): Promise<void> {
    pair.stopReplication(how);
    const then = lab.accepted() + lab.unavailable();
    await Promise.all([
      delay(STOPPED_MS),
      until(() => lab.accepted() + lab.unavailable() > then + AFTER / 4, { what: "responses in between" }),
    ]);
    await pair.failOver();
  }

  for (const one of cases.filter(({ isShort }) => isShort || isFull)) {
    const { title, how, loses, isWorking } = one;
    const fault = FAULTS[how] + (isWorking ? ", workers at work" : "");
    const what = loses === "nothing" ? "loses nothing that was accepted" : "may lose what was accepted";
    it(`${what}, and doubles nothing: ${title}, ${fault}`, async () => {
      const outcome = await run(one);
      const { accepted, lost, doubled, unavailable } = outcome;
      print(`| ${fault} | ${title} | ${accepted} | ${lost} | ${doubled} | ${unavailable} |`);
      expect(doubled, "doubled").to.equal(0);
      if (loses === "nothing") expect(lost, "lost").to.equal(0);
      if (loses === "some") expect(lost, "lost").to.be.above(0);
      if (loses === "moment") expect(lost, "lost").to.be.below(accepted / 4);
    });
  }
});
