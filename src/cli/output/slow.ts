import { note } from "./print.ts";

/** A person who has waited for so long wonders. */
const SLOW_MS = 2000;

/** Awaits work. A person at a terminal is told what for if that takes long: nothing looks like a hang. */
export async function sayIfSlow<T>(what: string, work: Promise<T>): Promise<T> {
  const timer = process.stderr.isTTY ? setTimeout(() => note(`Waiting for ${what} …`), SLOW_MS) : undefined;
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
