import { AppError } from "../../lib/errors.ts";
import { timerEvent } from "../../props/timer.ts";
import { readJsonFile } from "../input.ts";
import type { DevSource } from "./dev-source.ts";
import { createTicker, type Ticker } from "./ticker.ts";

/** Runs the source by its timer. As in a deployment, a tick is dropped while the run of an earlier one still waits. */
export function startTicker({ code, session, printer }: DevSource): Ticker {
  let isWaiting = false;
  const ticker = createTicker((timer, dueAtMs) => {
    if (isWaiting) return printer.say("dropped", "1 tick: the run of an earlier one still waits");
    isWaiting = true;
    const onStart = () => {
      isWaiting = false;
      printer.say("run", "timer");
    };
    void session.run(timerEvent(timer, dueAtMs), { onStart });
  });
  ticker.follow(code.timer);
  return ticker;
}

async function eventByHand({ options, code }: DevSource): Promise<unknown> {
  if (options.event !== undefined) return readJsonFile(options.event);
  if (code.timer) return timerEvent(code.timer, Date.now());
  throw new AppError("invalid", "the component has no timer: set the event with --event FILE");
}

/**
 * Runs the source once on the event of `--event`, or of its timer. Throws AppError if there is no event, and with
 * `--once` if the run failed.
 */
export async function runByHand(source: DevSource): Promise<void> {
  const event = await eventByHand(source);
  const onStart = () => source.printer.say("run", source.options.event ?? "timer, by hand");
  const error = await source.session.run(event, { onStart });
  if (error && source.options.once) {
    throw new AppError("invalid", `the run failed: ${error.code}: ${error.message}`);
  }
}
