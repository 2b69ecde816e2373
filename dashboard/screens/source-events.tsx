import { useState } from "preact/hooks";
import { headwater, type Schemas } from "../api/client";
import { ROWS, useFresh } from "../api/fresh";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import type { Summary } from "../api/source";
import { to, useFilters } from "../lib/address";
import { apiCommand, postCommand, signedCommand } from "../lib/curl";
import { endpointOf } from "../lib/interfaces";
import { Button, Card, CopyBlock } from "../ui/basics";
import { Select } from "../ui/form";
import { Loaded, NothingMatches, NothingYet } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toasts";
import { DeleteEvents } from "./delete-events";
import { deliveryColumns } from "./delivery-parts";
import { Dropped } from "./dropped";
import { EventRow, LiveControls, NoRows, Waiting } from "./event-list";
import { useLiveRows } from "./live-rows";
import { VerifyBadge } from "./verify-fields";

type Detail = Schemas["SourceDetail"];

/** What a source emits, as it happens; beside it what makes it emit, what was dropped and where the last events went. */
export function Events({ source }: { source: Detail }) {
  const { id } = source;
  const filters = useFilters(["channel"]);
  const { channel = "" } = filters.query;
  const live = useLiveRows(id, ["emit"]);
  /** What is asked about: an event and perhaps older ones, or all. */
  const [deleting, setDeleting] = useState<{ row: Summary | null } | null>(null);
  const emitted = live.rows.map(row => row.metadata.name).sort();
  const names = [...new Set(["default", ...emitted, channel])].filter(Boolean);
  const shown = live.rows.filter(row => channel === "" || (row.metadata.name || "default") === channel);
  return (
    <div class="columns wide-left">
      <section class="card">
        <div class="card-head">
          <h2>Events</h2>
          <Select
            label="Channel"
            isBare
            value={channel}
            choices={[
              { value: "", label: "All channels" },
              ...names.map(one => ({ value: one, label: one })),
            ]}
            onChange={chosen => filters.set({ channel: chosen })}
          />
          <LiveControls live={live} />
          {live.rows.length > 0 && (
            <Button
              kind="ghost"
              isSmall
              icon="trash"
              label="Delete all events"
              onClick={() => setDeleting({ row: null })}
            />
          )}
        </div>
        <Waiting live={live} />
        <NoRows live={live} />
        {live.stored.data !== undefined && live.rows.length === 0 && <NoEvents source={source} />}
        {live.rows.length > 0 && shown.length === 0 && <NothingMatches onClear={filters.clear} />}
        <ol class="events" aria-label="Events">
          {shown.map(row => (
            <EventRow key={row.id} row={row} onDelete={chosen => setDeleting({ row: chosen })} />
          ))}
        </ol>
        {deleting && (
          <DeleteEvents
            sourceId={id}
            row={deleting.row}
            onClose={() => setDeleting(null)}
            onDeleted={live.remove}
          />
        )}
      </section>
      <div class="stack">
        <Trigger source={source} />
        <Dropped dropped={source.dropped} />
        <RecentDeliveries id={id} />
      </div>
    </div>
  );
}

/** Sends a request to the source's endpoint, as its provider if that is verified; without one, publishes an event as the source. */
export function firstEvent({ id, configured_props: props, verify }: Detail): string {
  const url = endpointOf(props);
  if (url && verify?.preset) return signedCommand(id, verify.preset);
  return url
    ? postCommand(url, { name: "world" })
    : apiCommand(`/sources/${id}/events`, { method: "POST", body: { event: { hello: "world" } } });
}

function NoEvents({ source }: { source: Detail }) {
  const url = endpointOf(source.configured_props);
  return (
    <NothingYet icon="radio" title="Waiting for the first event" command={firstEvent(source)}>
      {url
        ? "Send a request to the endpoint, and its event appears here by itself:"
        : "The source emits when it runs. This command publishes an event as the source, without running it:"}
    </NothingYet>
  );
}

function Trigger({ source }: { source: Detail }) {
  const url = endpointOf(source.configured_props);
  const send = async () => {
    await headwater.publish(source.id, { event: { hello: "world", sent_from: "dashboard" } });
    toast("Published; it appears in the list.", "good");
  };
  return (
    <Card title={url ? "Endpoint" : "Publish"}>
      <div class="stack tight">
        {url && <CopyBlock text={url} label="Endpoint address" />}
        {url && <Senders source={source} />}
        <div>
          <Button changes icon="send" isSmall onClick={send}>
            Publish a test event
          </Button>
        </div>
        <p class="hint">
          It is published as this source, without running its code, and goes to all subscriptions.
        </p>
      </div>
    </Card>
  );
}

/** Who may send to the source, and a command that does. */
function Senders({ source }: { source: Detail }) {
  const { id, verify } = source;
  return (
    <>
      {verify === null ? (
        <p class="hint">
          Anybody who knows the address may send. <a href={to(`/sources/${id}/settings`)}>Verify who sends</a>
        </p>
      ) : (
        <div class="row">
          <VerifyBadge verify={verify} />
          {verify.secrets === 0 ? (
            <a href={to(`/sources/${id}/settings`)}>Set it</a>
          ) : (
            <a href={to(`/sources/${id}/verification`)}>{verify.preset ?? "by a rule of its own"}</a>
          )}
        </div>
      )}
      <CopyBlock
        text={firstEvent(source)}
        label={verify?.preset ? "Signed request as a command" : "Request as curl"}
      />
    </>
  );
}

/** The last deliveries of a source's events, without their own screen. */
function RecentDeliveries({ id }: { id: string }) {
  const resource = useResource(call => inAccount().deliveries.list({ emitter_id: id, limit: 5 }, call), [id]);
  useFresh(resource, { of: id, on: ["deliveries"], pace: ROWS });
  return (
    <section class="card slim">
      <div class="card-head">
        <h2>Deliveries</h2>
        <a href={to("/deliveries", { emitter_id: id })}>All</a>
      </div>
      <Loaded resource={resource} lines={2}>
        {({ data }) =>
          data.length > 0 ? (
            <Table columns={deliveryColumns({ hasEmitter: false })} rows={data} />
          ) : (
            <p class="card-body muted">
              No event of this source was delivered yet.{" "}
              <a href={to("/subscriptions", { emitter: id })}>Subscribe a webhook</a> to it.
            </p>
          )
        }
      </Loaded>
    </section>
  );
}
