import { readdirSync, readFileSync } from "node:fs";

/** `O_CLOEXEC` in `/proc/self/fdinfo`. */
const CLOSED_ON_EXEC = 0o2000000;

/**
 * Descriptors that this process itself inherited and would hand on to its children: a supervisor's pipe or listening
 * socket. Node marks its own as closed on exec, so these are all. Empty elsewhere than on Linux.
 */
export function inheritedDescriptors(): number[] {
  const numbers = readNames("/proc/self/fd").map(Number);
  return numbers.filter(number => number > 2 && !isClosedOnExec(number));
}

function isClosedOnExec(number: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, "utf8"))?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0;
  } catch {
    // The one that `readNames` had open.
    return true;
  }
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
