import { until } from "../support/until.ts";
import { isFullSize, type Lab, PROCESSES, type ProcessName } from "./lab.ts";
import type { Load } from "./load.ts";

/** What is done to the system under load. */
export interface Fault {
  title: string;
  /** One stroke; ends when what was struck is on its way back. */
  strike(lab: Lab, load: Load, round: number): Promise<unknown>;
  /** Strokes at least; at full size they go on for as long as events are sent. */
  strokes: number;
  /** True where nothing may reach a webhook twice. */
  clean?: true;
}

/** How long a store is away. Milliseconds. */
const AWAY_MS = isFullSize ? 60_000 : 3000;
/** How long Redis takes no write. Milliseconds. */
const FULL_MS = isFullSize ? 5000 : 1000;
const STEP_DOWN_S = isFullSize ? 8 : 2;
const REPEATED = isFullSize ? 5 : 1;
/** Deliveries that arrive before the next stroke, at most: where it falls is left to chance. */
const MOST_BETWEEN = isFullSize ? 1500 : 40;

/** After a kill nothing may come for a while: that is a moment too. */
const MOMENT_MS = isFullSize ? 5000 : 1500;

const pass = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** A random moment while events arrive. */
async function someMoment(load: Load): Promise<void> {
  const from = load.arrived();
  const wanted = from + 1 + Math.random() * MOST_BETWEEN;
  await until(() => load.arrived() >= wanted || load.isSent(), { timeoutMs: MOMENT_MS }).catch(
    () => undefined,
  );
}

const turn = (round: number): ProcessName => PROCESSES[round % PROCESSES.length] as ProcessName;

async function away(end: () => Promise<void>, start: () => Promise<void>, ms: number): Promise<void> {
  await end();
  await pass(ms);
  await start();
}

const redis = (lab: Lab) => {
  if (!("config" in lab.platform.redis)) throw new Error("not a single server");
  return lab.platform.redis;
};

/** Every place between two steps in different stores (src/failpoint.ts), in the process that passes it. */
const STEPS: Record<ProcessName, string[]> = {
  web: ["runs-pushed"],
  runs: ["runs-recorded", "outbox-enqueued", "runs-done"],
  emissions: ["events-appended", "events-stored", "first-attempts-enqueued", "events-fanned-out"],
  deliveries: ["first-attempts-recorded", "retry-recorded", "attempt-made", "attempts-recorded"],
};
const DIE_MS = isFullSize ? 240_000 : 40_000;
/** A crash falls on one of the first times that a process comes by. */
const MOST_PASSES = isFullSize ? 10 : 1;

/** Lets a process end itself at each of its places, one after the other, and go on in between. */
async function crashAfterEach(name: ProcessName, lab: Lab, died: (step: string) => void): Promise<void> {
  for (const step of STEPS[name]) {
    const passes = 1 + Math.floor(Math.random() * MOST_PASSES);
    await lab.kill(name);
    const child = lab.spawn(name, { HEADWATER_FAILPOINT: `${step}:${passes}` });
    let end: unknown;
    void child.ended.then(how => {
      end = how;
    });
    await until(() => end, { timeoutMs: DIE_MS, what: `${name} to come by ${step}` });
    if (end !== "SIGKILL") throw new Error(`${name} ended with ${end} before ${step}: ${child.output()}`);
    died(step);
  }
  await lab.start(name);
}

export const FAULTS: Fault[] = [
  {
    title: "kill -9 of web, runs, emissions and deliveries in turn",
    strokes: 4 * REPEATED,
    async strike(lab, load, round) {
      const name = turn(round);
      await lab.ready(name);
      await someMoment(load);
      await lab.kill(name);
      lab.spawn(name);
    },
  },
  {
    title: "kill -9 of all processes at once",
    strokes: REPEATED,
    async strike(lab, load) {
      await someMoment(load);
      await lab.kill(...PROCESSES);
      await lab.start(...PROCESSES);
    },
  },
  {
    title: "SIGTERM of web, runs, emissions and deliveries in turn",
    strokes: 4 * REPEATED,
    clean: true,
    async strike(lab, load, round) {
      const name = turn(round);
      await lab.ready(name);
      await someMoment(load);
      const code = await lab.stop(name);
      if (code !== 0) throw new Error(`${name} ended with ${code}`);
      lab.spawn(name);
    },
  },
  {
    title: "Redis restarted",
    strokes: REPEATED,
    async strike({ stores }, load) {
      await someMoment(load);
      await away(stores.redis.stop, stores.redis.start, 0);
    },
  },
  {
    title: "Redis killed with -9 and restarted",
    strokes: REPEATED,
    async strike({ stores }, load) {
      await someMoment(load);
      await away(stores.redis.kill, stores.redis.start, 0);
    },
  },
  {
    title: "Redis out of memory",
    strokes: REPEATED,
    async strike(lab, load) {
      await someMoment(load);
      await redis(lab).config("SET", "maxmemory", String(1024 * 1024));
      await pass(FULL_MS);
      await redis(lab).config("SET", "maxmemory", "0");
    },
  },
  {
    title: `Redis away for ${AWAY_MS / 1000} s`,
    strokes: 1,
    async strike({ stores }, load) {
      await someMoment(load);
      await away(stores.redis.kill, stores.redis.start, AWAY_MS);
    },
  },
  {
    title: "MongoDB killed with -9 and restarted",
    strokes: REPEATED,
    async strike({ stores }, load) {
      await someMoment(load);
      await away(stores.mongo.kill, stores.mongo.start, 0);
    },
  },
  {
    title: `MongoDB without a primary for ${STEP_DOWN_S} s`,
    strokes: REPEATED,
    async strike({ platform }, load) {
      await someMoment(load);
      const command = { replSetStepDown: STEP_DOWN_S, secondaryCatchUpPeriodSecs: 0, force: true };
      await platform.mongo.getClient().db("admin").command(command);
      await pass(STEP_DOWN_S * 1000);
    },
  },
  {
    title: "both stores killed and restarted",
    strokes: REPEATED,
    async strike({ stores }, load) {
      await someMoment(load);
      await Promise.all([stores.redis.kill(), stores.mongo.kill()]);
      await Promise.all([stores.redis.start(), stores.mongo.start()]);
    },
  },
  {
    title: "kill -9 after each single step between two stores",
    strokes: REPEATED,
    async strike(lab, load) {
      lab.receiver.refuseSome(true);
      const all = Object.values(STEPS).flat().length;
      let crashes = 0;
      // Each crash lets some more events go, so that those to come have something to pass with.
      const died = (step: string) => {
        load.struck(++crashes / (all + 1) / REPEATED);
        // An endpoint that fails gets its events one by one: no longer than there must be something to try again.
        if (step === "retry-recorded") lab.receiver.refuseSome(false);
      };
      await Promise.all(PROCESSES.map(name => crashAfterEach(name, lab, died)));
    },
  },
];
