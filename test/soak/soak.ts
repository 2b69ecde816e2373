import { setMaxListeners } from "node:events";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { CountingReceiver } from "../faults/counting-receiver.ts";
import { Changes, deleteTimer } from "./changes.ts";
import { compare, type Row, rowOf } from "./compare.ts";
import { describe, type Fault, holdsEmissions, planFaults } from "./faults.ts";
import { inject } from "./inject.ts";
import { type DiskName, type Installation, openInstallation } from "./installation.ts";
import { leftByProcesses, leftInStores } from "./leftovers.ts";
import { type Actor, Model } from "./model.ts";
import { pause } from "./pause.ts";
import { startSoakReceiver } from "./receiver.ts";
import { deviations } from "./report.ts";
import { SeededRandom } from "./seeded-random.ts";
import { startSenders } from "./senders.ts";
import { type Stage, setStage } from "./stage.ts";
import { compareStored, unfinished } from "./stored-state.ts";
import { readStream } from "./stream-reader.ts";

export interface SoakOptions {
  seed: string;
  /** How long load and faults last; start and drain come on top. */
  minutes: number;
  /** Processes, such as `web-1`. */
  names: string[];
  /** Seconds between two faults. */
  gapS: [number, number];
  /** Longest time that anything is away, hangs, or is full. */
  longestS: number;
  /** Whether endpoints sometimes never respond: the next attempt comes a minute later. */
  mayHang: boolean;
  /** How long everything may take to become quiet after the faults. */
  drainMs: number;
  say(line: string): void;
  /** Aborted to end it early. */
  signal?: AbortSignal;
}

const PROGRESS_MS = 10_000;
/** How long a timer may take to tick again once everything is healed. */
const TICK_MS = 60_000;
const QUIET_LOOKS = 3;
const LOOK_MS = 1000;

/** Runs the whole soak; returns what was compared. */
export async function soak(options: SoakOptions): Promise<Row[]> {
  const { seed, say, names } = options;
  const startedAt = Date.now();
  const model = new Model();
  let isDraining = false;
  const receiver = await startSoakReceiver(model, { seed, mayHang: () => options.mayHang && !isDraining });
  const installation = await openInstallation(names, say);
  let rows: Row[] | undefined;
  try {
    const stage = await setStage(installation, model, receiver);
    say(`ready after ${secondsSince(startedAt)}; logs in ${installation.logs}`);
    const run = new Soak(options, stage);
    await run.load();
    isDraining = true;
    await run.drain();
    rows = await run.compare();
    return rows;
  } finally {
    await installation.close({ keepLogs: !rows || deviations(rows) > 0 });
    await receiver.close();
  }
}

const secondsSince = (ms: number): string => `${Math.round((Date.now() - ms) / 1000)} s`;

class Soak {
  readonly #options: SoakOptions;
  readonly #stage: Stage;
  readonly #model: Model;
  readonly #installation: Installation;
  readonly #receiver: CountingReceiver;
  readonly #changes: Changes;
  readonly #ending = new AbortController();
  readonly #reading = new AbortController();
  readonly #random: SeededRandom;
  #faults = 0;
  #current = "none";
  #reader: Promise<void> | undefined;
  #drained: string[] = [];

  constructor(options: SoakOptions, stage: Stage) {
    this.#options = options;
    this.#stage = stage;
    this.#model = stage.model;
    this.#installation = stage.installation;
    this.#receiver = stage.receiver;
    this.#random = new SeededRandom(options.seed);
    // Each sender waits with it.
    setMaxListeners(0, this.#ending.signal);
    this.#changes = new Changes(stage, this.#actor("changes"));
  }

  #actor(name: string, signal = this.#ending.signal): Actor {
    return { model: this.#model, random: this.#random.stream(name), signal };
  }

  /** Load, changes and faults, until the time is over. */
  async load(): Promise<void> {
    const { minutes, say, signal } = this.#options;
    const startedAt = Date.now();
    const progress = setInterval(() => say(this.#progress(startedAt)), PROGRESS_MS);
    const stop = () => this.#ending.abort();
    signal?.addEventListener("abort", stop);
    const timer = setTimeout(stop, minutes * 60_000);
    try {
      this.#reader = readStream(this.#stage, "watched", this.#actor("reader", this.#reading.signal));
      const sending = startSenders(this.#stage, this.#actor("senders"));
      const changing = this.#changes.run();
      await this.#breakThings();
      await this.#heal();
      await Promise.all([sending, changing]);
    } finally {
      clearTimeout(timer);
      clearInterval(progress);
    }
    say(`${this.#progress(startedAt)}; load and faults ended`);
  }

  #progress(startedAt: number): string {
    return [
      `${secondsSince(startedAt)}: ${this.#model.acceptedCount()} accepted`,
      `${this.#receiver.events()} delivered`,
      `${this.#changes.done} changes`,
      `${this.#faults} faults`,
      `now: ${this.#current}`,
    ].join(", ");
  }

  async #breakThings(): Promise<void> {
    const { names, gapS, longestS } = this.#options;
    const disks = Object.keys(this.#installation.disks).sort() as DiskName[];
    const plan = planFaults(this.#random.stream("faults"), { names, disks, gapS, longestS });
    const { signal } = this.#ending;
    for (const { afterMs, faults } of plan) {
      await pause(afterMs, signal);
      if (signal.aborted) return;
      this.#current = faults.map(describe).join(" and ");
      await Promise.all(faults.map(fault => this.#inject(fault)));
      this.#current = "none";
    }
  }

  async #inject(fault: Fault): Promise<void> {
    const time = {
      title: describe(fault),
      holdsEmissions: holdsEmissions(fault),
      fromMs: Date.now(),
      toMs: Number.POSITIVE_INFINITY,
    };
    this.#model.faults.push(time);
    this.#faults += 1;
    this.#logFault(`begins: ${time.title}`);
    await inject(this.#installation, fault);
    time.toMs = Date.now();
    this.#logFault(`is over: ${time.title}`);
  }

  #logFault(line: string): void {
    appendFileSync(
      join(this.#installation.logs, "faults.log"),
      `${new Date().toISOString()} ${Date.now()} ${line}\n`,
    );
  }

  /** Every fault has been undone by itself; this waits until all processes are ready. */
  async #heal(): Promise<void> {
    for (const one of this.#installation.processes) {
      one.start();
      await one.ready();
    }
  }

  /** Waits until every timer has ticked again, deletes the timers, and waits until nothing is left to do. */
  async drain(): Promise<void> {
    const { say, drainMs } = this.#options;
    const startedAt = Date.now();
    await this.#tickAgain();
    for (const source of Object.values(this.#stage.sources)) {
      const timer = this.#model.timers.find(({ path }) => path === `/${source.name}`);
      if (timer && timer.untilMs === undefined) await deleteTimer(this.#stage, source);
    }
    let quiet = 0;
    let saidAt = startedAt;
    while (quiet < QUIET_LOOKS && Date.now() - startedAt < drainMs) {
      await pause(LOOK_MS);
      this.#drained = await unfinished(this.#stage);
      const lost = this.#lost();
      quiet = this.#drained.length === 0 && lost === 0 ? quiet + 1 : 0;
      if (quiet === 0) this.#current = `${this.#drained.length} things left to do, ${lost} not delivered`;
      if (Date.now() - saidAt < PROGRESS_MS) continue;
      saidAt = Date.now();
      say(`draining for ${secondsSince(startedAt)}: ${this.#current}`);
    }
    if (quiet < QUIET_LOOKS) for (const line of this.#drained) say(`  ${line}`);
    this.#reading.abort();
    await this.#reader;
    say(`drained ${quiet >= QUIET_LOOKS ? "in" : "in vain for"} ${secondsSince(startedAt)}`);
  }

  async #tickAgain(): Promise<void> {
    const ticking = this.#model.timers.filter(({ untilMs }) => untilMs === undefined);
    const before = ticking.map(({ path }) => this.#receiver.at(path).size);
    const endsAt = Date.now() + TICK_MS;
    const isSilent = () => ticking.some(({ path }, i) => this.#receiver.at(path).size <= (before[i] ?? 0));
    while (isSilent() && Date.now() < endsAt) await pause(LOOK_MS / 4);
  }

  #lost(): number {
    const row = this.#compared().find(({ what }) => what === "lost");
    return row?.count ?? 0;
  }

  #compared(): Row[] {
    return compare(this.#model, path => this.#receiver.at(path));
  }

  async compare(): Promise<Row[]> {
    const rows = [
      ...this.#compared(),
      ...(await compareStored(this.#stage)),
      ...(await leftInStores(this.#stage)),
    ];
    const faults = rowOf(
      "faults",
      this.#model.faults.map(({ title }) => title),
      false,
    );
    return [{ ...faults, examples: [] }, ...rows, ...(await leftByProcesses(this.#installation))];
  }
}
