/**
 * Loaded into a process of the installation by NODE_OPTIONS=--import, in place of faketime: the machine's clock of that
 * process is off by as many milliseconds as the file SOAK_CLOCK_FILE says. The monotonic clock stays right, as it does when
 * the clock of a real machine is set.
 */
import { readFileSync } from "node:fs";

const LOOK_EVERY_MS = 300;

const file = process.env.SOAK_CLOCK_FILE;
const machine = Date.now;
let offsetMs = 0;

const look = () => {
  try {
    offsetMs = Number(readFileSync(file, "utf8")) || 0;
  } catch {
    offsetMs = 0;
  }
};

if (file) {
  look();
  setInterval(look, LOOK_EVERY_MS).unref();
  Date.now = () => machine() + offsetMs;
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [machine() + offsetMs] : args, newTarget),
  });
}
