import { type Command, Option } from "commander";
import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { parseTime, UsageError } from "../input.ts";
import { fields, note, print, printJson, show, table, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { followDeliveries } from "./follow-deliveries.ts";
import { type JsonOption, jsonOption, type Listing, type ListOptions } from "./list.ts";
import {
  EMITTERS,
  findEmitterId,
  findReceiver,
  isDestinationId,
  NamedArgument,
  NamedOption,
  RECEIVERS,
  SUBSCRIPTIONS,
} from "./names.ts";
import { commandOn, type Subject, subjectCommands } from "./subject.ts";

type Delivery = Schemas["Delivery"];
type Attempt = Schemas["DeliveryDetail"]["attempts"][number];

interface SearchOptions extends ListOptions {
  state?: Delivery["state"];
  webhook?: string;
  issue?: string;
  emitter?: string;
  event?: string;
  subscription?: string;
  channel?: string;
  status?: string;
  since?: number;
  until?: number;
  text?: string;
}

const DELIVERY: Subject<Schemas["DeliveryDetail"]> = {
  word: "delivery",
  given: "dlv_…",
  names: null,
  isById: true,
  find: (client, id) => client.deliveries.get(id),
  detailOf,
};
const STATES = ["pending", "delivered", "failed", "cancelled"];

export function deliveryCommands(program: Command, tools: RemoteTools): void {
  subjectCommands(program, tools, DELIVERY, {
    description: "see deliveries, retry and cancel them",
    list: SEARCH,
    show: "show a delivery with its attempts",
    own(delivery) {
      const retry = jsonOption(commandOn(delivery, "retry", DELIVERY, "retry a delivery now"));
      remoteAction<JsonOption>(retry, tools, async ({ client, options }, given = "") =>
        show(
          await client.deliveries.retry(given),
          options,
          ({ id, state }) => `${id} is ${state}: it is retried now, and its retry schedule restarts.`,
        ),
      );
      cancelCommand(delivery, tools);
      recoverCommand(delivery, tools);
    },
  });
}

const SEARCH: Listing<Delivery, SearchOptions> = {
  description: "list deliveries, newest first",
  options: command =>
    command
      .addOption(new Option("--state <state>", "only those in this state").choices(STATES))
      .addOption(
        new NamedOption(
          "--webhook <webhook>",
          "only those to this webhook or destination: id or name",
          RECEIVERS,
        ),
      )
      .option("--issue <issue>", "only those whose last failed attempt is of this issue")
      .addOption(new NamedOption("--emitter <emitter>", "only events of this source or workflow", EMITTERS))
      .option("--event <id>", "only this event, by its id")
      .addOption(
        new NamedOption("--subscription <sub_…>", "only those that this subscription led to", SUBSCRIPTIONS),
      )
      .option("--channel <name>", "only events of this channel")
      .option("--status <status>", "only with this result: 503, 5xx, or none for no response")
      .option("--since <time>", "only events since a date, or a time ago such as 2h", text => parseTime(text))
      .option("--until <time>", "only events until a date, or a time ago", text => parseTime(text))
      .option("--text <words>", "only with these words in the payload, if the server finds payloads"),
  async *read(client, page, options) {
    yield* client.deliveries.list({ ...page, ...(await queryOf(client, options)) });
  },
  follow(client, page, options) {
    checkFollowed(options);
    return followChosen(client, page, options);
  },
  columns: {
    id: ({ id }) => id,
    state: ({ state, reason }) => (reason === null ? state : `${state} (${reason})`),
    attempts: ({ attempts_made }) => attempts_made,
    result: ({ last_attempt }) => last_attempt?.status ?? last_attempt?.error,
    webhook: ({ webhook_id }, nameOf) => nameOf(webhook_id),
    event: ({ event_id }) => event_id,
    created: ({ created_at }) => timeOf(created_at * 1000),
  },
  showsOthers: true,
};

async function* followChosen(client: Headwater, page: { limit: number }, options: SearchOptions) {
  yield* followDeliveries(client, { ...page, ...(await queryOf(client, options)) });
}

/** What a delivery itself does not show. Throws UsageError. */
function checkFollowed({ status, since, until, text }: SearchOptions): void {
  const given = Object.entries({ status, since, until, text }).find(([, value]) => value !== undefined);
  if (given) throw new UsageError(`--${given[0]}: goes without --follow`);
}

async function queryOf(client: Headwater, options: SearchOptions) {
  const { state, webhook, issue, emitter, event, subscription, channel, status, since, until, text } =
    options;
  return {
    ...(state !== undefined && { state }),
    ...(webhook !== undefined && { webhook_id: (await findReceiver(client, webhook)).id }),
    ...(issue !== undefined && { issue_id: issue }),
    ...(emitter !== undefined && { emitter_id: await findEmitterId(client, emitter) }),
    ...(event !== undefined && { event_id: event }),
    ...(subscription !== undefined && { subscription_id: subscription }),
    ...(channel !== undefined && { event_name: channel }),
    ...(status !== undefined && { status }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(text !== undefined && { text }),
  };
}

function cancelCommand(delivery: Command, tools: RemoteTools): void {
  const command = jsonOption(commandOn(delivery, "cancel", DELIVERY, "cancel a pending delivery"));
  remoteAction<JsonOption>(command, tools, async ({ client, options }, id = "") => {
    const { results } = await client.deliveries.cancelSelected([id]);
    const { result, reason } = results[0] ?? { result: "not-found", reason: null };
    if (result === "not-found") throw new AppError("not-found", `there is no delivery ${id}`);
    if (result === "conflict") throw new AppError("conflict", `${id} can't be cancelled: ${reason}`);
    show({ id, result }, options, () => `${id} is cancelled: nothing is sent unless it is retried.`);
  });
}

function recoverCommand(delivery: Command, tools: RemoteTools): void {
  const command = delivery
    .command("recover")
    .description(
      "retry all failed deliveries to a webhook or destination since a moment; exit code 0 once it has begun",
    )
    .addArgument(new NamedArgument("<webhook>", "id or name of a webhook or destination", RECEIVERS))
    .requiredOption("--since <time>", "a date, or a time ago such as 2h", text => parseTime(text))
    .option("--dry-run", "only count them");
  remoteAction<{ json?: boolean; since: number; dryRun?: boolean }>(
    jsonOption(command),
    tools,
    async ({ client, options }, id = "") => {
      const { since, dryRun = false } = options;
      const { id: receiverId } = await findReceiver(client, id);
      const receivers = isDestinationId(receiverId) ? client.destinations : client.webhooks;
      const recovery = await receivers.recover(receiverId, { since, dry_run: dryRun });
      if (options.json) return printJson(recovery);
      print(
        fields({
          webhook: receiverId,
          failed: recovery.count,
          since: timeOf(since * 1000),
          state: recovery.state,
        }),
      );
      if (!dryRun) note(`headwater delivery list --webhook ${receiverId} shows them.`);
    },
  );
}

function detailOf(delivery: Schemas["DeliveryDetail"]): string {
  const { state, reason, next_attempt_at_ms: due } = delivery;
  const head = fields({
    id: delivery.id,
    state: reason === null ? state : `${state} (${reason})`,
    webhook: delivery.webhook_id,
    emitter: delivery.emitter_id,
    event: delivery.event_id,
    channel: delivery.event_name,
    issue: delivery.issue_id ?? undefined,
    "next attempt": state === "pending" && due !== null ? timeOf(due) : undefined,
    created: timeOf(delivery.created_at * 1000),
  });
  if (delivery.attempts.length === 0) return `${head}\nNo attempt was made yet.`;
  const rows = delivery.attempts.map(({ number, at_ms, trigger, status, latency_ms, error, response }) => [
    number,
    timeOf(at_ms),
    trigger,
    status ?? error,
    latency_ms,
    response.slice(0, 80),
  ]);
  const attempts = table(["attempt", "time", "trigger", "result", "ms", "response"], rows);
  return [head, attempts, ...delivery.attempts.flatMap(outputOf)].join("\n\n");
}

/** What an attempt of an action says of itself: nothing of any other. */
function outputOf({ number, output }: Attempt): string[] {
  if (output === undefined) return [];
  const { summary, exports, return_value, truncated, logs } = output;
  const named = Object.entries(exports).map(([name, value]) => [`export ${name}`, JSON.stringify(value)]);
  const said = fields({
    attempt: number,
    ...(summary !== null && { summary }),
    ...Object.fromEntries(named),
    ...(return_value !== null && { returned: JSON.stringify(return_value) }),
    ...(truncated && { cut: "only the first 4 KB are kept" }),
  });
  const lines = logs.map(({ ts, level, message }) => [timeOf(ts), level, message]);
  return [lines.length === 0 ? said : `${said}\n${table(["time", "level", "log"], lines)}`];
}
