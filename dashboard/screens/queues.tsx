import type { Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { bytes, count } from "../lib/format";
import { orgId } from "../lib/shown-account";
import { Card, LinkButton, Page, Time } from "../ui/basics";
import { Loaded, NothingYet } from "../ui/states";
import { type Column, Table } from "../ui/table";
import { Thing } from "../ui/thing";
import { Tile } from "../ui/tile";

type View = Schemas["Queues"];
type ListenerRow = View["deliveries"][number] & { id: string };
type SourceRow = View["runs"][number] & { id: string };

/** A number, and since when the first of what it counts waits. */
const Waiting = ({ many, since }: { many: number; since: number | null }) =>
  many === 0 ? (
    <span class="muted">0</span>
  ) : (
    <>
      {count(many)}
      <div class="sub nowrap">
        since <Time ms={since} />
      </div>
    </>
  );

const LISTENERS: Column<ListenerRow>[] = [
  {
    head: "Webhook or destination",
    cell: row => <Thing id={row.listener_id} name={row.listener_name} />,
  },
  { head: "Due now", isNumber: true, cell: row => <Waiting many={row.due} since={row.oldest_due_ms} /> },
  {
    head: "Wait for a retry",
    isNumber: true,
    cell: row => <Waiting many={row.retries} since={row.oldest_retry_ms} />,
  },
  {
    head: "",
    cell: row => (
      <div class="row end">
        <LinkButton isSmall href={to("/deliveries", { webhook_id: row.listener_id, state: "pending" })}>
          Deliveries
        </LinkButton>
      </div>
    ),
  },
];

const SOURCES: Column<SourceRow>[] = [
  { head: "Source", cell: row => <Thing id={row.source_id} name={row.source_name} /> },
  { head: "Waiting", isNumber: true, cell: row => <Waiting many={row.waiting} since={row.oldest_ms} /> },
  {
    head: "",
    cell: row => (
      <div class="row end">
        <LinkButton isSmall href={to(`/sources/${row.source_id}/runs`)}>
          Runs
        </LinkButton>
      </div>
    ),
  },
];

/** What waits in the account: how much, since when, and for whom. */
export function Queues() {
  const resource = useResource(call => inAccount().queues(call), [orgId.value]);
  useFresh(resource, { on: ["deliveries", "runs"] });
  return (
    <Page
      title="Queues"
      about="What waits: deliveries for their listener or for a retry, runs for their source."
    >
      <Loaded resource={resource} lines={6}>
        {queues => <Parts queues={queues} />}
      </Loaded>
    </Page>
  );
}

function Parts({ queues: { totals, deliveries, runs } }: { queues: View }) {
  const isEmpty = deliveries.length + runs.length + totals.workflow_events === 0;
  return (
    <>
      <div class="tiles">
        <Tile label="Deliveries due" value={count(totals.due)} />
        <Tile label="Deliveries to retry" value={count(totals.retries)} />
        <Tile
          label="Runs"
          value={count(totals.runs)}
          note={totals.queued_bytes > 0 ? bytes(totals.queued_bytes) : undefined}
        />
        <Tile
          label="For workflow engines"
          value={count(totals.workflow_events)}
          note="handed over; some may be taken"
        />
      </div>
      {isEmpty && (
        <section class="card">
          <NothingYet icon="check" title="Nothing waits" command={apiCommand("/queues")}>
            What can be sent or run is sent and run at once. This command shows the same:
          </NothingYet>
        </section>
      )}
      {deliveries.length > 0 && (
        <Card title="Deliveries" isPadded={false}>
          <Table columns={LISTENERS} rows={deliveries.map(row => ({ ...row, id: row.listener_id }))} />
        </Card>
      )}
      {runs.length > 0 && (
        <Card title="Runs" isPadded={false}>
          <Table columns={SOURCES} rows={runs.map(row => ({ ...row, id: row.source_id }))} />
        </Card>
      )}
    </>
  );
}
