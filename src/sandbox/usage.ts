import { closeSync, openSync, readSync } from "node:fs";

/** What a process has used, as far as the system tells; zeros elsewhere than on Linux. */
export interface Usage {
  /** Processor time in milliseconds since its start, and resident memory now. A dead process tells its last figures. */
  sample(isExact: boolean): Sample;
  /** What was found last. */
  last(): Sample;
  close(): void;
}

export interface Sample {
  cpuMs: number;
  memoryBytes: number;
}

const PAGE_BYTES = 4096;
/** `/proc/<pid>/stat` counts in these; 100 a second on every Linux. */
const TICK_MS = 10;

/**
 * Keeps three files of `/proc` open, because a sample is taken before and after each call: 3 µs for the main thread,
 * which runs the component, to the nanosecond, and as much for the memory. `isExact` adds the other threads (garbage
 * collection, compilation), which costs 10 µs and is known by 10 ms only.
 */
export function openUsage(pid: number): Usage {
  const files = { main: open(pid, "schedstat"), all: open(pid, "stat"), memory: open(pid, "statm") };
  let mainMs = 0;
  let othersMs = 0;
  let memoryBytes = 0;
  let isClosed = false;
  const last = () => ({ cpuMs: mainMs + othersMs, memoryBytes });

  return {
    sample(isExact) {
      if (!isClosed) {
        mainMs = Number(read(files.main)?.split(" ")[0] ?? mainMs * 1e6) / 1e6;
        memoryBytes = Number(read(files.memory)?.split(" ")[1] ?? memoryBytes / PAGE_BYTES) * PAGE_BYTES;
        if (isExact) {
          const allMs = readTicks(read(files.all));
          if (allMs !== undefined) othersMs = Math.max(othersMs, allMs - mainMs);
        }
      }
      return last();
    },
    last,
    close() {
      if (isClosed) return;
      isClosed = true;
      for (const file of Object.values(files)) if (file !== undefined) closeSync(file);
    },
  };
}

function open(pid: number, name: string): number | undefined {
  try {
    return openSync(`/proc/${pid}/${name}`, "r");
  } catch {
    return undefined;
  }
}

const buffer = Buffer.allocUnsafe(1024);

function read(file: number | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0)) || undefined;
  } catch {
    // The process is gone.
    return undefined;
  }
}

function readTicks(stat: string | undefined): number | undefined {
  if (stat === undefined) return undefined;
  // The second field is the command in parentheses and may hold spaces; times are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
