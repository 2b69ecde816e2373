import { AppError } from "../../lib/errors.ts";
import { timerEvent } from "../../props/timer.ts";
import { readJsonFile } from "../json-file.ts";
import type { Live } from "./live.ts";
import { createTicker, type Ticker } from "./timer.ts";

/** Ticks by the component's timer. As in a deployment, a tick is dropped while the one before waits for its turn. */
export function startTicker({ code, session, printer }: Live): Ticker {
  let isWaiting = false;
  const ticker = createTicker((timer, dueAtMs) => {
    if (isWaiting) return printer.say("dropped", "1 tick: the one before still waits");
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

async function eventByHand({ options, code }: Live): Promise<unknown> {
  if (options.event !== undefined) return readJsonFile(options.event);
  if (code.timer) return timerEvent(code.timer, Date.now());
  throw new AppError("invalid", "the component has no timer: --event FILE gives the event to run on");
}

/** One run because somebody asks for it. Throws AppError when there is nothing to run on, or the run failed. */
export async function runByHand(source: Live): Promise<void> {
  const event = await eventByHand(source);
  const onStart = () => source.printer.say("run", source.options.event ?? "timer, by hand");
  const error = await source.session.run(event, { onStart });
  if (error && source.options.once) {
    throw new AppError("invalid", `the run failed: ${error.code}: ${error.message}`);
  }
}
