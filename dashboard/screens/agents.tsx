import { useFresh } from "../api/fresh";
import { usePaged } from "../api/paged";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { Time } from "../ui/basics";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";
import type { Column } from "../ui/table";
import { AgentHosts } from "./agent-hosts";
import { AgentKeys } from "./agent-keys";
import { type AgentSubscription, Disconnect, labelOf } from "./agent-parts";
import { WebhookBadge } from "./webhook-badge";

/** What agents have subscribed to for the shown account, through which keys they connect, and how another one does. */
export function Agents() {
  const { filters, resource, read } = usePaged((cursor, call) =>
    inAccount().mcpSubscriptions.list(cursor, call),
  );
  useFresh(resource, { on: ["deliveries"] });
  return (
    <ListScreen
      title="Agents"
      about="Programs that read what Headwater knows over the Model Context Protocol, and are notified of what they subscribed to."
      head={
        <div class="card-head">
          <h2>Subscriptions</h2>
        </div>
      }
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet icon="radio" title="No agent has subscribed">
          An agent subscribes by itself, once its host has the Events extension of the protocol and an API key
          with full access.
        </NothingYet>
      }
      columns={[
        ...COLUMNS,
        {
          head: "",
          cell: row => (
            <div class="row end">
              <Disconnect subscription={row} onDone={resource.reload} />
            </div>
          ),
        },
      ]}
    >
      <AgentKeys />
      <AgentHosts />
    </ListScreen>
  );
}

const COLUMNS: Column<AgentSubscription>[] = [
  {
    head: "Agent",
    cell: row => (
      <>
        <a class="title" href={to(`/agents/${row.id}`)}>
          {labelOf(row)}
        </a>
        <div class="sub">{row.id}</div>
      </>
    ),
  },
  {
    head: "Subscribed to",
    label: true,
    cell: row => (
      <>
        {row.event_type}
        {Object.keys(row.arguments).length > 0 && <div class="sub mono">{JSON.stringify(row.arguments)}</div>}
      </>
    ),
  },
  { head: "Callback", label: true, cell: row => row.callback_host },
  {
    head: "Health",
    cell: row => (
      <>
        <WebhookBadge webhook={row} />
        {row.failing_since !== null && (
          <div class="sub">
            since <Time seconds={row.failing_since} />
          </div>
        )}
      </>
    ),
  },
  { head: "Last delivery", label: true, cell: row => <Time seconds={row.last_success_at} /> },
  { head: "Expires", label: true, cell: row => <Time seconds={row.expires_at} /> },
];
