import { type Command, Option } from "commander";
import { type SearchOption, searchOption, textOf } from "./list.ts";

const STATES = ["active", "failing", "disabled"] as const;

/** The options with which webhooks, and destinations, are listed. */
export interface ReceiverFilters extends SearchOption {
  state?: (typeof STATES)[number];
}

export const receiverFilters = (command: Command): Command =>
  searchOption(command).addOption(new Option("--state <state>", "only those in this state").choices(STATES));

/** Returns the filters of the API that were given. */
export const receiverFiltersOf = (options: ReceiverFilters) => ({
  ...textOf(options),
  ...(options.state !== undefined && { state: options.state }),
});
