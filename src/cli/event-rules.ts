import type { Command } from "commander";
import type { AppEventRules } from "../models/app.ts";

/** What `eventRuleOptions` reads. */
export interface EventRuleOptions {
  eventName?: string[];
  event?: string;
  challenge?: string;
}

/** Adds the options that say how an app's events are read (docs/connections.md#events-of-an-app). */
export const eventRuleOptions = (command: Command): Command =>
  command
    .option(
      "--event-name <template>",
      "what an event that the app sends is called: {{headers.x-event}}; may be repeated",
      (one, earlier: string[] = []) => [...earlier, one],
    )
    .option("--event <template>", "what sources receive of it (default: {{body}})")
    .option(
      "--challenge <template>",
      "what it wants sent back when it checks an endpoint: {{body.challenge}}",
    );

/** Returns the rules of an app's events that were given; undefined if none was. */
export function eventRulesOf({ eventName, event, challenge }: EventRuleOptions): AppEventRules | undefined {
  if (eventName === undefined && event === undefined && challenge === undefined) return undefined;
  return {
    ...(eventName && { names: eventName }),
    ...(event !== undefined && { event }),
    ...(challenge !== undefined && { challenge }),
  };
}
