import type { DiskName } from "./installation.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** One thing that goes wrong, for a while. */
export type Fault =
  | { kind: "process"; how: "kill" | "stop" | "freeze"; name: string; forMs: number }
  | { kind: "store"; how: "kill" | "stop" | "freeze" | "away"; store: "redis" | "mongo"; forMs: number }
  | { kind: "no-primary"; forMs: number }
  | { kind: "sandboxes"; share: number; forMs: number }
  | { kind: "clock"; name: string; byMs: number; forMs: number }
  | { kind: "disk"; disk: DiskName; forMs: number };

export interface PlannedFault {
  /** Time since the end of the one before. */
  afterMs: number;
  faults: Fault[];
}

const SECOND = 1000;
const CLOCK_STEPS_S = [-86_400, -3600, -120, 30, 300, 3600, 86_400];

/** How often each kind is drawn. */
const WEIGHTS: Record<Fault["kind"], number> = {
  process: 8,
  store: 5,
  "no-primary": 1,
  sandboxes: 3,
  clock: 2,
  disk: 2,
};

interface Means {
  names: string[];
  disks: DiskName[];
  /** Between two faults. */
  gapS: [number, number];
  /** Longest time that anything is away, hangs, or is full. */
  longestS: number;
}

/** What the fault is about: two at the same time concern different things. */
function targetOf(fault: Fault): string {
  if (fault.kind === "store") return fault.store;
  if (fault.kind === "no-primary") return "mongo";
  if (fault.kind === "disk") return fault.disk;
  return fault.kind === "sandboxes" ? "sandboxes" : fault.name;
}

/** Draws faults for ever; the same random numbers give the same faults, whatever becomes of them. */
export function* planFaults(random: SeededRandom, means: Means): Generator<PlannedFault, never> {
  for (;;) {
    const afterMs = Math.round((means.gapS[0] + random.next() * (means.gapS[1] - means.gapS[0])) * SECOND);
    const first = drawFault(random, means);
    const second = drawFault(random, means);
    const isTwice = random.chance(0.2) && targetOf(first) !== targetOf(second);
    yield { afterMs, faults: isTwice ? [first, second] : [first] };
  }
}

function drawFault(random: SeededRandom, { names, disks, longestS }: Means): Fault {
  const kinds = Object.entries(WEIGHTS).flatMap(([kind, weight]) => Array<string>(weight).fill(kind));
  const kind = random.pick(kinds) as Fault["kind"];
  const forMs = Math.round((0.5 + random.next() * (longestS - 0.5)) * SECOND);
  switch (kind) {
    case "process":
      return { kind, how: random.pick(["kill", "kill", "stop", "freeze"]), name: random.pick(names), forMs };
    case "store": {
      const how = random.pick(["kill", "stop", "freeze", "away"] as const);
      return { kind, how, store: random.pick(["redis", "mongo"]), forMs };
    }
    case "no-primary":
      return { kind, forMs };
    case "sandboxes":
      return { kind, share: random.pick([0.3, 1]), forMs: 0 };
    case "clock": {
      const name = random.pick(names.filter(one => !one.startsWith("web")));
      return { kind, name, byMs: random.pick(CLOCK_STEPS_S) * SECOND, forMs: forMs * 2 };
    }
    case "disk":
      // Without a disk to fill, another draw would change all that follow.
      return disks.length > 0
        ? { kind, disk: random.pick(disks), forMs }
        : { kind: "sandboxes", share: 1, forMs: 0 };
  }
}

/** Whether an emissions worker, or a store that it works with, hangs or is away for a while. */
export function holdsEmissions(fault: Fault): boolean {
  if (fault.kind === "process") return /^(emissions|all)/.test(fault.name);
  return (
    fault.kind === "store" ||
    fault.kind === "no-primary" ||
    (fault.kind === "disk" && fault.disk !== "sandboxes")
  );
}

const seconds = (ms: number): string => `${(ms / SECOND).toFixed(1)} s`;

/** A line about a fault, for people. */
export function describe(fault: Fault): string {
  switch (fault.kind) {
    case "process":
      return `${{ kill: "kill -9", stop: "SIGTERM", freeze: "freeze" }[fault.how]} ${fault.name} for ${seconds(fault.forMs)}`;
    case "store":
      return `${fault.how} ${fault.store}${fault.how === "freeze" || fault.how === "away" ? ` for ${seconds(fault.forMs)}` : ""}`;
    case "no-primary":
      return `MongoDB without a primary for ${seconds(fault.forMs)}`;
    case "sandboxes":
      return `kill ${fault.share * 100} % of the sandboxes`;
    case "clock":
      return `clock of ${fault.name} off by ${fault.byMs / SECOND} s for ${seconds(fault.forMs)}`;
    case "disk":
      return `disk of ${fault.disk} full for ${seconds(fault.forMs)}`;
  }
}
