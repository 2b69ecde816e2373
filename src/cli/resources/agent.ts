import type { Command } from "commander";
import type { Schemas } from "../../../clients/typescript/src/index.ts";
import { type Confirmed, confirmDeletion, yesOption } from "../input.ts";
import { fields, plain, print, timeOf } from "../output.ts";
import { type RemoteTools, remoteAction } from "../remote/remote-command.ts";
import { AGENTS } from "./names.ts";
import { commandOn, type Subject, subjectCommands } from "./subject.ts";

type McpSubscription = Schemas["McpSubscription"];

const AGENT: Subject<McpSubscription> = {
  word: "agent",
  given: "ms_…",
  names: AGENTS,
  isById: true,
  find: (client, id) => client.mcpSubscriptions.get(id),
  detailOf,
};

const HELP = `
An agent subscribes by itself, and is listed once for each thing that it is notified of. The API keys with which agents connect, and
read, are those of headwater key list; to revoke one ends its subscriptions too.`;

/** Commands that see what agents have subscribed to, and end it (docs/agents.md#events). */
export function agentCommands(program: Command, tools: RemoteTools): void {
  subjectCommands(program, tools, AGENT, {
    description: "see and disconnect agents that are notified of events",
    help: HELP,
    list: {
      description: "list what agents have subscribed to",
      read: (client, page) => client.mcpSubscriptions.list(page),
      columns: {
        id: ({ id }) => id,
        agent: ({ client_name }) => client_name,
        "event type": ({ event_type }) => event_type,
        callback: ({ callback_host }) => callback_host,
        state: stateOf,
        "last delivery": ({ last_success_at }) => momentOf(last_success_at),
        expires: ({ expires_at }) => momentOf(expires_at),
      },
    },
    show: "show what an agent has subscribed to",
    own(agent) {
      const description = "end a subscription of an agent; what is pending is cancelled";
      const command = yesOption(commandOn(agent, "disconnect", AGENT, description));
      remoteAction<Confirmed>(command, tools, async ({ client, options }, id = "") => {
        await confirmDeletion(`the subscription ${plain(id)} of an agent`, options);
        await client.mcpSubscriptions.delete(id);
        print(`${plain(id)} has ended. Its agent may subscribe again while its API key is valid.`);
      });
    },
  });
}

function stateOf({ active, failing_since }: McpSubscription): string {
  if (!active) return "disabled";
  return failing_since === null ? "active" : "failing";
}

const momentOf = (seconds: number | null): string => (seconds === null ? "never" : timeOf(seconds * 1000));

function detailOf(subscription: McpSubscription): string {
  const { failing_since: since, disabled_reason: reason } = subscription;
  return fields({
    id: subscription.id,
    agent: subscription.client_name,
    "event type": subscription.event_type,
    arguments: JSON.stringify(subscription.arguments),
    callback: subscription.callback_host,
    state: stateOf(subscription),
    "disabled because": reason ?? undefined,
    "failing since": since === null ? undefined : momentOf(since),
    "last delivery": momentOf(subscription.last_success_at),
    "last error": momentOf(subscription.last_error_at),
    "API key": subscription.key_id,
    expires: momentOf(subscription.expires_at),
    created: momentOf(subscription.created_at),
  });
}
