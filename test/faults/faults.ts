import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mountSmallDisk } from "../soak/small-disk.ts";
import { until } from "../support/until.ts";
import { isFullSize, type Lab, PROCESSES, type ProcessName } from "./lab.ts";
import type { Load } from "./load.ts";

/** A fault that a test injects into the system under load. */
export interface Fault {
  title: string;
  /** Injects the fault once, the `n`-th time from 0; resolves when the affected process or store is starting again. */
  inject(lab: Lab, load: Load, n: number): Promise<unknown>;
  /** The least number of injections; at full size the fault is repeated for as long as events are sent. */
  times: number;
  /** True if no event may reach a webhook twice. */
  isClean?: true;
}

/** What each process logs when Redis is away. */
const REDIS_AWAY = '"msg":"redis connection lost"';
/** How many commands Redis rejects before it has memory again. */
const REJECTED = isFullSize ? 500 : 20;
const STEP_DOWN_S = isFullSize ? 8 : 2;
const REPEATED = isFullSize ? 5 : 1;
/** Most deliveries that arrive before the next fault; the exact moment is random. */
const MOST_BETWEEN = isFullSize ? 1500 : 40;

/** The longest wait for that moment, because after a kill nothing may arrive for a while. */
const MOMENT_MS = isFullSize ? 5000 : 1500;

/** Resolves at a random moment while events arrive. */
async function randomMoment(load: Load): Promise<void> {
  const from = load.arrived();
  const wanted = from + 1 + Math.random() * MOST_BETWEEN;
  await until(() => load.arrived() >= wanted || load.isSent(), { timeoutMs: MOMENT_MS }).catch(
    () => undefined,
  );
}

const processAt = (n: number): ProcessName => PROCESSES[n % PROCESSES.length] as ProcessName;

/** How many commands Redis has rejected because it is full. */
async function rejectedByRedis({ platform }: Lab): Promise<number> {
  const [, count = 0] =
    /errorstat_OOM:count=(\d+)/.exec(String(await platform.redis.info("errorstats"))) ?? [];
  return Number(count);
}

async function isPrimary({ platform }: Lab): Promise<boolean> {
  const { isWritablePrimary } = await platform.mongo.getClient().db("admin").command({ hello: 1 });
  return isWritablePrimary;
}

const redis = (lab: Lab) => {
  if (!("config" in lab.platform.redis)) throw new Error("not a single server");
  return lab.platform.redis;
};

/** All failpoints (src/lib/failpoint.ts), each between two steps in different stores, by process. */
const FAILPOINTS: Record<ProcessName, string[]> = {
  web: ["runs-pushed", "scores-reserved", "publications-enqueued"],
  runs: ["runs-settled", "settled-enqueued", "runs-recorded", "outbox-enqueued", "runs-done"],
  emissions: ["events-appended", "events-stored", "first-attempts-enqueued", "events-fanned-out"],
  deliveries: ["first-attempts-recorded", "retry-recorded", "attempt-made", "attempts-recorded"],
};
const CRASH_MS = isFullSize ? 240_000 : 120_000;
/** The process crashes at one of the first times that it reaches the failpoint. */
const MOST_PASSES = isFullSize ? 10 : 1;
/** A run that is under way at a crash again may be given up at a later one, before it is looked at here. */
const MOST_CRASHES = 2;
/** Only few requests reach it. */
const OF_LARGE_REQUESTS = "scores-reserved";

/** Lets a process kill itself at each of its failpoints, one after another, and starts it again each time. */
async function crashAtEach(
  name: ProcessName,
  lab: Lab,
  load: Load,
  onCrash: (failpoint: string) => void,
): Promise<void> {
  for (const failpoint of FAILPOINTS[name]) {
    const isRare = failpoint === OF_LARGE_REQUESTS;
    const passes = isRare ? 1 : 1 + Math.floor(Math.random() * MOST_PASSES);
    await lab.kill(name);
    if (name === "runs") await untilRunsEnd(lab);
    const child = lab.spawn(name, { HEADWATER_FAILPOINT: `${failpoint}:${passes}` });
    if (isRare) load.publishLarge();
    let ending: unknown;
    void child.ended.then(how => {
      ending = how;
    });
    await until(() => ending, { timeoutMs: CRASH_MS, what: `${name} to reach ${failpoint}` });
    if (ending !== "SIGKILL") {
      throw new Error(`${name} ended with ${ending} before ${failpoint}: ${child.output()}`);
    }
    onCrash(failpoint);
  }
  await lab.start(name);
}

/**
 * A run that was under way at four crashes is given up, with an error event in place of its own (docs/design.md#guarantee-8). Where
 * one has been at as many as may be, lets a process that does not crash finish it.
 */
async function untilRunsEnd(lab: Lab): Promise<void> {
  const { redis, keys } = lab.platform;
  const crashes = async () => {
    const ids = [lab.emitters.source, lab.emitters.stateless];
    return Math.max(
      ...(await Promise.all(ids.map(async id => Number(await redis.get(keys.runCrashes(id)))))),
    );
  };
  if ((await crashes()) < MOST_CRASHES) return;
  await lab.start("runs");
  await until(async () => (await crashes()) === 0, {
    timeoutMs: CRASH_MS,
    what: "no run that was interrupted",
  });
  await lab.kill("runs");
}

/** Stops all processes in order, which must end with code 0 whatever became of their logs, and starts them again. */
async function restartAll(lab: Lab, logFile: (name: ProcessName) => string | undefined): Promise<void> {
  for (const name of PROCESSES) {
    const code = await lab.stop(name);
    if (code !== 0) throw new Error(`${name} ended with ${code}`);
    lab.spawn(name, {}, undefined, logFile(name));
    await lab.ready(name);
  }
}

/** Lets all processes log to a disk, fills that while events arrive, and starts them with another log. */
async function fillLogDisk(lab: Lab, load: Load): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "headwater-logs-"));
  const disk = mountSmallDisk(folder, 4);
  // Without the right to mount there is a reader that is gone, and test/workers/unwritable-log.test.ts has /dev/full.
  if (!disk) return rmSync(folder, { recursive: true });
  try {
    await restartAll(lab, name => join(folder, `${name}.log`));
    disk.fill();
    await randomMoment(load);
    await randomMoment(load);
    await restartAll(lab, () => undefined);
  } finally {
    disk.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export const FAULTS: Fault[] = [
  {
    title: "kill -9 of web, runs, emissions and deliveries in turn",
    times: 4 * REPEATED,
    async inject(lab, load, n) {
      const name = processAt(n);
      await lab.ready(name);
      await randomMoment(load);
      await lab.kill(name);
      lab.spawn(name);
    },
  },
  {
    title: "kill -9 of all processes at once",
    times: REPEATED,
    async inject(lab, load) {
      await randomMoment(load);
      await lab.kill(...PROCESSES);
      await lab.start(...PROCESSES);
    },
  },
  {
    title: "SIGTERM of web, runs, emissions and deliveries in turn",
    times: 4 * REPEATED,
    isClean: true,
    async inject(lab, load, n) {
      const name = processAt(n);
      await lab.ready(name);
      await randomMoment(load);
      const code = await lab.stop(name);
      if (code !== 0) throw new Error(`${name} ended with ${code}`);
      lab.spawn(name);
    },
  },
  {
    title: "the logs without a reader, and on a full disk",
    times: REPEATED,
    async inject(lab, load) {
      lab.leaveLogs(...PROCESSES);
      await randomMoment(load);
      await restartAll(lab, () => undefined);
      await fillLogDisk(lab, load);
    },
  },
  {
    title: "Redis restarted",
    times: REPEATED,
    async inject({ stores }, load) {
      await randomMoment(load);
      await stores.redis.stop();
      await stores.redis.start();
    },
  },
  {
    title: "Redis killed with -9 and restarted",
    times: REPEATED,
    async inject({ stores }, load) {
      await randomMoment(load);
      await stores.redis.kill();
      await stores.redis.start();
    },
  },
  {
    title: "Redis out of memory",
    times: REPEATED,
    async inject(lab, load) {
      await randomMoment(load);
      const before = await rejectedByRedis(lab);
      await redis(lab).config("SET", "maxmemory", String(1024 * 1024));
      const isEnough = async () => (await rejectedByRedis(lab)) >= before + REJECTED;
      await until(isEnough, { what: `${REJECTED} rejected commands` });
      await redis(lab).config("SET", "maxmemory", "0");
    },
  },
  {
    title: "Redis away until every process has lost it",
    times: 1,
    async inject({ stores, untilAllSay }, load) {
      await randomMoment(load);
      await untilAllSay(REDIS_AWAY, stores.redis.kill);
      await stores.redis.start();
    },
  },
  {
    title: "MongoDB killed with -9 and restarted",
    times: REPEATED,
    async inject({ stores }, load) {
      await randomMoment(load);
      await stores.mongo.kill();
      await stores.mongo.start();
    },
  },
  {
    title: `MongoDB without a primary for ${STEP_DOWN_S} s`,
    times: REPEATED,
    async inject(lab, load) {
      await randomMoment(load);
      const command = { replSetStepDown: STEP_DOWN_S, secondaryCatchUpPeriodSecs: 0, force: true };
      await lab.platform.mongo.getClient().db("admin").command(command);
      await until(() => isPrimary(lab), { what: "a primary" });
    },
  },
  {
    title: "both stores killed and restarted",
    times: REPEATED,
    async inject({ stores }, load) {
      await randomMoment(load);
      await Promise.all([stores.redis.kill(), stores.mongo.kill()]);
      await Promise.all([stores.redis.start(), stores.mongo.start()]);
    },
  },
  {
    title: "kill -9 at each failpoint",
    times: REPEATED,
    async inject(lab, load) {
      lab.receiver.failSome(true);
      const all = Object.values(FAILPOINTS).flat().length;
      let crashes = 0;
      // Each crash allows some more events, so that processes reach the next failpoints.
      const onCrash = (failpoint: string) => {
        load.allow(++crashes / (all + 1) / REPEATED);
        // A failing endpoint gets its events one by one, so it fails only until a retry was recorded.
        if (failpoint === "retry-recorded") lab.receiver.failSome(false);
      };
      await Promise.all(PROCESSES.map(name => crashAtEach(name, lab, load, onCrash)));
    },
  },
];
