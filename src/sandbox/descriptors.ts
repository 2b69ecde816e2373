import { readdirSync, readFileSync } from "node:fs";

/** The flag `O_CLOEXEC` in `/proc/self/fdinfo`. */
const CLOSE_ON_EXEC = 0o2000000;

/**
 * Returns the file descriptors that this process inherited and would pass on to its children, such as a supervisor's
 * pipe or listening socket. Node marks the descriptors it opens itself as close-on-exec. Returns an empty array on
 * systems other than Linux.
 */
export function inheritedDescriptors(): number[] {
  const numbers = readNames("/proc/self/fd").map(Number);
  return numbers.filter(number => number > 2 && !isCloseOnExec(number));
}

function isCloseOnExec(number: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, "utf8"))?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
  } catch {
    // The descriptor with which `readNames` read the folder.
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
