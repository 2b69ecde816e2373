import { type Command, Option } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { fields, note, print, show, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { type JsonOption, jsonOption, type Listing, type ListOptions } from "./list.ts";
import { findReceiver, NamedOption, RECEIVERS } from "./names.ts";
import { commandOn, type Subject, subjectCommands } from "./subject.ts";

type Issue = Schemas["Issue"];

const STATES: Issue["state"][] = ["open", "acknowledged", "resolved"];

interface SearchOptions extends ListOptions {
  state?: Issue["state"];
  listener?: string;
}

const ISSUE: Subject<Issue> = {
  word: "issue",
  given: "iss_…",
  names: null,
  isById: true,
  find: (client, id) => client.issues.get(id),
  detailOf,
};

/** Failures of deliveries by their cause, and what is done about them (docs/rest-api.md#issues). */
export function issueCommands(program: Command, tools: RemoteTools): void {
  subjectCommands(program, tools, ISSUE, {
    description: "see why deliveries fail, and retry all of one cause",
    list: LIST,
    own(issue) {
      stateCommand(issue, tools, "acknowledge", "acknowledged");
      stateCommand(issue, tools, "resolve", "resolved");
      const retry = commandOn(issue, "retry", ISSUE, "retry every delivery of an issue that has failed");
      remoteAction<JsonOption>(jsonOption(retry), tools, async ({ client, options }, id = "") => {
        const replay = await client.issues.retry(id);
        show(replay, options, ({ count }) =>
          count === 1 ? "One delivery is retried." : `${count} deliveries are retried.`,
        );
        if (!options.json) note(`headwater delivery list --issue ${id} shows them.`);
      });
    },
  });
}

function stateCommand(group: Command, tools: RemoteTools, name: string, state: Issue["state"]): void {
  const command = commandOn(group, name, ISSUE, `${name} an issue`);
  remoteAction(command, tools, async ({ client }, id = "") => {
    await client.issues.update(id, { state });
    print(`${id} is ${state}.`);
  });
}

const LIST: Listing<Issue, SearchOptions> = {
  description: "list issues",
  options: command =>
    command
      .addOption(new Option("--state <state>", "only those in this state").choices(STATES))
      .addOption(
        new NamedOption("--listener <webhook>", "only those of this webhook or destination", RECEIVERS),
      ),
  async *read(client, page, { state, listener }) {
    yield* client.issues.list({
      ...page,
      ...(state !== undefined && { state }),
      ...(listener !== undefined && { listener_id: (await findReceiver(client, listener)).id }),
    });
  },
  columns: {
    id: ({ id }) => id,
    state: ({ state }) => state,
    cause: ({ cause }) => cause,
    listener: ({ listener_name, listener_id }) => listener_name ?? listener_id,
    attempts: ({ count }) => count,
    failed: ({ failed_deliveries }) => failed_deliveries,
    "last seen": ({ last_seen_ms }) => timeOf(last_seen_ms),
  },
};

function detailOf(issue: Issue): string {
  const by = (atMs: number | null, who: string | null) =>
    atMs === null ? undefined : `${timeOf(atMs)} by ${who}`;
  return fields({
    id: issue.id,
    state: issue.state,
    cause: issue.cause,
    listener: issue.listener_name ?? issue.listener_id,
    error: issue.last_error,
    "failed attempts": issue.count,
    "failed deliveries": issue.failed_deliveries,
    "first seen": timeOf(issue.first_seen_ms),
    "last seen": timeOf(issue.last_seen_ms),
    opened: timeOf(issue.opened_at_ms),
    reopened: issue.reopened,
    acknowledged: by(issue.acknowledged_at_ms, issue.acknowledged_by),
    resolved: by(issue.resolved_at_ms, issue.resolved_by),
    "last delivery": issue.last_delivery_id,
  });
}
