/**
 * Every number of the fairness between accounts that is not a limit of its own (docs/limits.md). The line on each says what it
 * bounds; the title of each group names the rows of the neighbour table (docs/reliability.md) that need it, or the test that does.
 */

/** How scarce the time of the thread is. Rows: 10,000 events to 100 webhooks, heavy filters, requests as fast as a source accepts them. */
export const PRESSURE = {
  /** Over how long it is measured how busy the thread is. */
  sampleMs: 100,
  /** The share of its time above which the thread is busy: beyond it, all that waits for it waits much longer. */
  busyShare: 0.7,
  /** The share of its time that it waits for a processor, above which the machine is busy with other processes. */
  waitingShare: 0.1,
  /** What a busy sample multiplies the pressure by, and one that is not. */
  rise: 1.25,
  fall: 0.93,
  most: 16,
};

/** Who uses more than the others. Rows: all, since an account is held back only beside others. */
export const USAGE = {
  /** How long what accounts do is counted together. An account is present for one to two of these. */
  windowMs: 5000,
  /** How long after another account was here the others still leave room for it. */
  awaitedMs: 3000,
  /** What was done in less time counts as if it had taken this long. */
  leastCoveredMs: 1000,
};

/** How often work of an account starts. Row: requests as fast as a source accepts them. */
export const TURNS = {
  /** Pieces of work that start in a turn of the event loop beside other accounts. */
  starts: 4,
  /** The same while no other account has work: more at once make larger batches, and fewer round trips to the stores. */
  startsAlone: 64,
  /** How long after another a piece of a heavy account starts while time is scarce, times the pressure. */
  spreadMs: 5,
  /** The longest pause that is made. */
  mostPauseMs: 4000,
  /** What an account may start in each second in any case: the processor may be scarce for other reasons. Test: the soak. */
  leastPerSecond: 50,
  /** After work of this length a heavy account pauses for a share of it, even while time is not scarce. Row: responses of 5 MB. */
  largeMs: 20,
  largeShare: 0.2,
  /** How much work counts as much as a start. */
  msPerStart: 10,
  /** What a byte that is read or sent costs all processes that pass it on: some 100 ms for a megabyte. Row: responses of 5 MB. */
  msPerByte: 100 / 1024 / 1024,
};

/** The slots of a worker process. Row: 10,000 events to 100 webhooks. */
export const WORKER = {
  /**
   * The slots of an account while time is scarce and it uses more of it than others: then more at once make none of its jobs
   * faster, and each step of another account's job waits for a step of every one of them.
   */
  busySlots: 1,
  /** How soon after scarce time it has one more, until it has its full share. */
  moreAfterMs: 250,
  /** How many times as long as its work a slot then rests, times the pressure, so that stores and processor have time for others. */
  restFactor: 3,
  /** The least work that a slot rests after, and the longest rest. */
  longMs: 20,
  mostRestMs: 4000,
  /** The processor's time that an account's jobs may use in each second in any case. Test: the soak. */
  leastMsPerSecond: 150,
  /** A job that waits for its share goes back to its queue after this, give or take half: another process may have a slot. */
  requeueAfterMs: 1000,
  /** How soon a job whose turn it is is noticed while everything that was fetched has to wait. */
  lookMs: 10,
};

/** Large bodies of requests for sources. Row: deep, wide and binary bodies. */
export const LARGE_BODIES = {
  /** How many times as long as its work an account's turn rests, while requests of other accounts arrive, and the longest rest. */
  restFactor: 10,
  mostRestMs: 2000,
};

/** Attempts that wait for a place at an origin. Row: 10,000 events to an endpoint that hangs. */
export const AT_ORIGIN = {
  /** How long an attempt waits; one that would wait longer becomes a pending delivery, or stays one. */
  patienceMs: 1000,
  /** An origin where a place became free so recently is quick: its attempts wait on, since they move on, but not for ever. */
  quickMs: 250,
  quickPatienceMs: 15_000,
};

/** How long work of one piece may take the thread before others get a turn. Row: heavy filters. */
export const BREAK_AFTER_MS = 5;

/** How much nicer a process is that does an account's work. Row: 50 components saved at once. */
export const NICENESS = 10;

/** Items of one account that a sweep handles before it looks for those of all others. Test: test/fairness/batches.test.ts. */
export const FIRST_OF_ACCOUNT = 2000;
