import { type Command, InvalidArgumentError, Option } from "commander";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { splitList } from "../../lib/lists.ts";
import { fields, note, show, timeOf } from "../output.ts";
import type { RemoteTools } from "../remote/remote-command.ts";
import {
  type JsonOption,
  jsonOption,
  type SearchOption,
  type SortOption,
  searchOption,
  sortOf,
  sortOption,
  textOf,
} from "./list.ts";
import { commandOn, type Subject, thingAction } from "./subject.ts";

type Receiver = Schemas["Webhook"] | Schemas["Destination"];

/** What a webhook and a destination can be given alike. */
export interface DeliverySettings extends JsonOption {
  name?: string;
  description?: string;
  maxInFlight?: number;
  rateLimit?: number;
  ordered?: boolean;
  retrySchedule?: string[] | null;
  timeout?: number | null;
}

export const deliveryOptions = (command: Command): Command =>
  jsonOption(command)
    .option("--name <name>", "label shown in lists")
    .option("--description <text>", "shown in lists")
    .option("--max-in-flight <n>", "deliveries in flight at once", parseCount)
    .option("--rate-limit <n>", "attempts started a second", parseCount)
    .option("--ordered", "one event at a time, in order")
    .option("--no-ordered", "as many at once as are allowed")
    .option(
      "--retry-schedule <waits>",
      "waits after failed attempts, such as 5s,1m,1h; none: no retries; default: the server's",
      parseSchedule,
    )
    .option("--timeout <seconds>", "how long an attempt may take; default: the server's time", parseTimeout);

/** Says which secrets an update removed, and returns what it did. */
export async function withSecretsNoted<Updated extends { secrets_removed: string[] }>(
  updating: Promise<Updated>,
): Promise<Updated> {
  const updated = await updating;
  const { secrets_removed: names } = updated;
  if (names.length > 0) note(`Removed, because of another server: ${names.join(", ")}. Give them again.`);
  return updated;
}

/** Parses a number that an option has. */
export function parseCount(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= 1) return Number(text);
  throw new InvalidArgumentError("must be an integer from 1 to 999999999");
}

/** What leaves a setting to the server. */
const DEFAULT = "default";

/** The server checks the waits themselves, and says what is wrong with which. */
const parseSchedule = (text: string): string[] | null =>
  text === DEFAULT ? null : text === "none" ? [] : splitList(text);

const parseTimeout = (text: string): number | null => (text === DEFAULT ? null : parseCount(text));

/** Returns the fields of a request that were given. */
export const deliveryBodyOf = ({
  name,
  description,
  maxInFlight,
  rateLimit,
  ordered,
  retrySchedule,
  timeout,
}: DeliverySettings) => ({
  ...(name !== undefined && { name }),
  ...(description !== undefined && { description }),
  ...(maxInFlight !== undefined && { max_in_flight: maxInFlight }),
  ...(rateLimit !== undefined && { rate_limit_per_second: rateLimit }),
  ...(ordered !== undefined && { ordered }),
  ...(retrySchedule !== undefined && { retry_schedule: retrySchedule }),
  ...(timeout !== undefined && { timeout_seconds: timeout }),
});

export function stateOf({ active, failing_since, ordered }: Receiver): string {
  if (!active) return "disabled";
  if (failing_since !== null) return `failing since ${timeOf(failing_since * 1000)}`;
  return ordered ? "active, ordered" : "active";
}

function retriesOf({ retry_schedule: waits }: Receiver): string {
  if (waits === null) return "the server's schedule";
  return waits.length === 0 ? "none" : `after ${waits.join(", ")}`;
}

/** Returns what is shown of a webhook or a destination, with lines of its kind after its name. */
export const receiverFields = (receiver: Receiver, own: Record<string, unknown>): string =>
  fields({
    id: receiver.id,
    name: receiver.name,
    description: receiver.description,
    ...own,
    state: stateOf(receiver),
    "disabled because": receiver.disabled_reason ?? undefined,
    notice: receiver.notice ?? undefined,
    "max in flight": receiver.max_in_flight ?? "the server's default",
    "rate limit": receiver.rate_limit_per_second === null ? "none" : `${receiver.rate_limit_per_second}/s`,
    retries: retriesOf(receiver),
    "time-out": receiver.timeout_seconds === null ? "the server's time" : `${receiver.timeout_seconds}s`,
    created: timeOf(receiver.created_at * 1000),
  });

/** Adds `test`. */
export function testCommand<Thing extends { id: string }>(
  group: Command,
  tools: RemoteTools,
  subject: Subject<Thing>,
  {
    description,
    send,
  }: {
    description: string;
    send: (
      client: Headwater,
      id: string,
    ) => Promise<{ status: number | null; latency_ms: number; error: string | null; response: string }>;
  },
): void {
  const command = jsonOption(commandOn(group, "test", subject, description));
  thingAction(command, tools, subject, async ({ id }, { client, options }) => {
    const result = await send(client, id);
    const { status, latency_ms: ms, error, response } = result;
    show(result, options, () => fields({ status, ms, error, response }));
    if (error !== null) process.exitCode = 1;
  });
}

const STATES = ["active", "failing", "disabled"] as const;

/** The options with which webhooks, and destinations, are listed. */
export interface ReceiverFilters extends SearchOption, SortOption {
  state?: (typeof STATES)[number];
}

export const receiverFilters = (command: Command): Command =>
  sortOption(searchOption(command)).addOption(
    new Option("--state <state>", "only those in this state").choices(STATES),
  );

/** Returns the filters of the API that were given. */
export const receiverFiltersOf = (options: ReceiverFilters) => ({
  ...textOf(options),
  ...sortOf(options),
  ...(options.state !== undefined && { state: options.state }),
});
