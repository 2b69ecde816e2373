import { stop } from "esbuild";

/**
 * Calls of esbuild share one child process, and code nested deeply enough ends it: its stack overflows
 * (tried with 1 MB of `[`, 0.28.2), after which every later call fails. So a call that lost its process is tried
 * once more with nobody beside it; lost again, it was this code that did it.
 */
export class ParserLost extends Error {}

/** The call took longer than it may. */
export class ParserTooSlow extends Error {}

let generation = 0;
let turn: Promise<void> = Promise.resolve();
const underWay = new Set<Promise<unknown>>();
/** Ends one attempt each; esbuild itself forgets the calls of a process that `stop` ended. */
const losses = new Set<(cause: unknown) => void>();

/** Ends the shared process once per generation; the next call starts a new one. */
function restart(seen: number, cause: unknown): void {
  if (seen !== generation) return;
  generation += 1;
  void stop();
  for (const lose of losses) lose(cause);
  losses.clear();
}

const isDiagnosis = (error: unknown): boolean => Array.isArray((error as { errors?: unknown }).errors);

async function attempt<T>(call: () => Promise<T>, limitMs: number): Promise<T> {
  const seen = generation;
  let timer: NodeJS.Timeout | undefined;
  let lose: (cause: unknown) => void = () => {};
  const ending = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ParserTooSlow(`took more than ${limitMs / 1000} s`)), limitMs);
    lose = cause => reject(new ParserLost("is nested too deeply to be read", { cause }));
  });
  losses.add(lose);
  try {
    return await Promise.race([call(), ending]);
  } catch (error) {
    if (isDiagnosis(error) || error instanceof ParserLost) throw error;
    losses.delete(lose);
    restart(seen, error);
    if (error instanceof ParserTooSlow) throw error;
    throw new ParserLost("is nested too deeply to be read", { cause: error });
  } finally {
    clearTimeout(timer);
    losses.delete(lose);
  }
}

async function alone<T>(call: () => Promise<T>, limitMs: number): Promise<T> {
  const before = turn;
  let done = () => {};
  turn = new Promise(resolve => {
    done = resolve;
  });
  await before;
  await Promise.allSettled(underWay);
  try {
    return await attempt(call, limitMs);
  } finally {
    done();
  }
}

/**
 * One call of esbuild, `limitMs` milliseconds at most. Throws what esbuild diagnosed (`errors`), ParserTooSlow, or
 * ParserLost; calls inside `call` go to esbuild directly.
 */
export async function withParser<T>(limitMs: number, call: () => Promise<T>): Promise<T> {
  for (let seen: Promise<void> | undefined; seen !== turn; ) {
    seen = turn;
    await seen;
  }
  const trying = attempt(call, limitMs);
  underWay.add(trying);
  try {
    return await trying;
  } catch (error) {
    if (!(error instanceof ParserLost)) throw error;
  } finally {
    underWay.delete(trying);
  }
  return alone(call, limitMs);
}
