/** What one measurement of the bench used, of the roles that matter to a plan. */
export interface Measured {
  /** Events sent, and deliveries of each. */
  events: number;
  webhooks: number;
  /** Events a second while it was measured. */
  perSecond: number;
  cpuSeconds: Record<Role, number>;
}

/** What a plan has processes, or a server, of. */
export type Role = "web" | "runs" | "emissions" | "deliveries" | "deletions" | "mongodb" | "redis";

/**
 * Where the figures of each part come from. Measured on 2 cores of an AMD EPYC (virtual machine) that also ran the sender,
 * the receiver, Redis 7.0.15 and MongoDB 6.0.5.
 */
export const ORIGIN = {
  cpu: {
    date: "2026-11-23",
    commit: "0a80d23",
    command: "npm run bench -- P1 P2 P3 W4 W6 W1 W2 W3",
    how: "medians of three runs in a row, nothing else on the machine (docs/performance.md#measured)",
  },
  timers: {
    date: "2026-11-23",
    commit: "0a80d23",
    command: "npm run bench -- W7 --minutes 2 --raw none",
    how: "one run (docs/performance.md#timers)",
  },
} as const;

const cpu = (
  web: number,
  runs: number,
  emissions: number,
  deliveries: number,
  mongodb: number,
  redis: number,
) => ({
  ...{ web, runs, emissions, deliveries, deletions: 0 },
  ...{ mongodb, redis },
});

/** CPU seconds of whole processes, by workload (docs/performance.md has what each is). `runs` includes its sandboxes. */
export const WORKLOADS = {
  P1: { events: 20_000, webhooks: 1, perSecond: 2033, cpuSeconds: cpu(4.66, 0.03, 3.57, 4.74, 2.79, 1.36) },
  P2: { events: 2_000, webhooks: 10, perSecond: 566, cpuSeconds: cpu(0.67, 0.03, 0.39, 2.99, 0.92, 0.35) },
  P3: { events: 3_000, webhooks: 1, perSecond: 100, cpuSeconds: cpu(4.24, 0.11, 6.24, 6.07, 3.02, 3.95) },
  W4: { events: 20_000, webhooks: 1, perSecond: 1741, cpuSeconds: cpu(2.76, 4.82, 1.73, 3.44, 2.73, 1.87) },
  W6: { events: 3_000, webhooks: 1, perSecond: 100, cpuSeconds: cpu(4.24, 12.66, 6.12, 6.16, 4.56, 6.0) },
  W1: { events: 20_000, webhooks: 1, perSecond: 4309, cpuSeconds: cpu(0.12, 0.01, 1.52, 3.01, 2.14, 0.91) },
  W3: { events: 3_000, webhooks: 1, perSecond: 100, cpuSeconds: cpu(0.07, 0.1, 6.82, 6.48, 3.52, 4.51) },
  /** 1,000 timers spread over a minute, two minutes. */
  W7: { events: 2_000, webhooks: 0, perSecond: 16.7, cpuSeconds: cpu(0.44, 19.22, 8.29, 0.39, 8.09, 7.31) },
} as const satisfies Record<string, Measured>;

/** What things take in memory, on disk and on the wire; `npm run bench -- capacity` measures those of the stores. */
export const SIZES = {
  /** Peaks of P1, W1 and W4, rounded up (docs/performance.md#measured: none above 204). */
  processMb: { web: 200, runs: 190, emissions: 195, deliveries: 195, deletions: 130 },
  /** A warm sandbox, its own pages (docs/performance.md#older-figures: 47 MB, of which 20 are shared). */
  sandboxMb: 47,
  redisIdleMb: 20,
  /** An emitter that emitted a thousand events of 900 bytes within a day (docs/performance.md#memory-of-an-emitter: 272,000 bytes). */
  redisEmitterKb: 270,
  redisWaitingEventBytes: 400,
  /** Bytes beside the payload. */
  mongodbData: { event: 240, delivery: 590 },
  mongodbIndex: { event: 220, delivery: 200 },
  /** HTTP, TCP and our own headers. */
  requestBytes: 900,
  /** Bytes in both directions; `copies`: how often the payload passes. */
  redisTraffic: { event: 6_500, delivery: 2_000, copies: 4 },
  mongodbTraffic: { event: 2_000, delivery: 1_000, copies: 1 },
  /** Of one HTTP source (docs/performance.md#older-figures). */
  runsOfOneSourcePerSecond: 1415,
} as const;
