import { type ChildProcess, type StdioOptions, spawn, spawnSync } from "node:child_process";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { mountSmallDisk } from "../soak/small-disk.ts";

/** A standard output that can't be written. */
export interface BadOutput {
  /** What a child process gets as its standard output. */
  stdout: number | "pipe";
  /** Is called once the process is ready, with it. */
  spoil(child: ChildProcess): void;
  /** True if what is written is lost at once, and does not wait for a reader. */
  isLost: boolean;
  close(): void;
}

function namedPipe(folder: string): { reader: number; writer: number } {
  const path = join(folder, `pipe-${process.hrtime.bigint()}`);
  const { status } = spawnSync("mkfifo", [path]);
  if (status !== 0) throw new Error("mkfifo failed");
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) };
}

/** Fills a pipe, so that the next byte does not fit. */
function fill(writer: number): void {
  try {
    for (;;) writeSync(writer, "x".repeat(4096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
  }
}

const nothing = () => undefined;

/**
 * Each way in which a log can fail its writer; `folder` is for pipes and disks. Returns undefined if this process may not
 * set that up.
 */
export const BAD_OUTPUTS: Record<string, (folder: string) => BadOutput | undefined> = {
  "a device that is always full"() {
    const stdout = openSync("/dev/full", "w");
    return { stdout, spoil: nothing, isLost: true, close: () => closeSync(stdout) };
  },
  "a file on a full disk"(folder) {
    const disk = mountSmallDisk(join(folder, "disk"), 1);
    if (!disk) return undefined;
    const stdout = openSync(join(disk.path, "log"), "a");
    return {
      stdout,
      spoil: () => disk.fill(),
      isLost: true,
      close: () => {
        closeSync(stdout);
        disk.close();
      },
    };
  },
  "a pipe whose reader is gone"(folder) {
    const { reader, writer } = namedPipe(folder);
    return {
      stdout: writer,
      spoil: () => closeSync(reader),
      isLost: true,
      close: () => closeSync(writer),
    };
  },
  "a full pipe whose reader has stopped"(folder) {
    const { reader, writer } = namedPipe(folder);
    fill(writer);
    return {
      stdout: writer,
      spoil: nothing,
      isLost: false,
      close: () => {
        closeSync(writer);
        closeSync(reader);
      },
    };
  },
  "a blocking pipe whose reader has stopped"(folder) {
    const { reader, writer } = namedPipe(folder);
    fill(writer);
    const path = `/proc/self/fd/${writer}`;
    // A description of its own, as a shell would have opened it.
    const blocking = openSync(path, constants.O_WRONLY);
    return {
      stdout: blocking,
      spoil: nothing,
      isLost: false,
      close: () => {
        for (const fd of [blocking, writer, reader]) closeSync(fd);
      },
    };
  },
  "a socket whose reader is gone"() {
    return { stdout: "pipe", spoil: child => void child.stdout?.destroy(), isLost: true, close: nothing };
  },
  "a socket whose reader has stopped"() {
    return { stdout: "pipe", spoil: nothing, isLost: false, close: nothing };
  },
};

/** Starts a program with this standard output, and a channel on which it says that it is ready. */
export function startWith(output: BadOutput, args: string[], env: Record<string, string>): ChildProcess {
  const stdio: StdioOptions = ["ignore", output.stdout, "pipe", "ipc"];
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, ...env }, stdio });
  child.stdout?.pause();
  return child;
}
