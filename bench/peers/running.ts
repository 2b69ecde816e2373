import { request } from "undici";
import { within } from "../../script/lib/processes.mjs";
import type { Program } from "../child.ts";
import { newEvent } from "../event.ts";
import type { Watched } from "../meter.ts";

/** n8n migrates a new database first. */
const START_MS = 300_000;

/** Resolves once the address takes an event, which the receiver counts for no measurement. Throws if a process ends before. */
export async function untilItTakesEvents(url: string, processes: Pick<Program, "ended">[]): Promise<void> {
  const takes = within(START_MS, () => takesEvent(url), { everyMs: 500 });
  if (!(await Promise.race([takes, ...processes.map(({ ended }) => ended)])))
    throw new Error(`${url} took no event within ${START_MS / 1000} s`);
}

async function takesEvent(url: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(newEvent(0, 0)),
    });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}

/** A process with what it starts itself, such as those that run the user's code. */
export const withChildren = (name: string, pid: number): Watched[] => [
  { name, group: "ours", pid },
  { name: `${name}, children`, group: "ours", pid, children: true },
];
