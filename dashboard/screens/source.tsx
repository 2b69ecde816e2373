import { useRoute } from "preact-iso/router";
import { headwater, type Schemas } from "../api/client";
import { ROWS, useFresh } from "../api/fresh";
import { useOwnAccount } from "../api/own-account";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { updateSource } from "../api/source";
import { to, useFilters } from "../lib/address";
import { apiCommand, postCommand } from "../lib/curl";
import { bytes, duration, words } from "../lib/format";
import { Badge, Button, Card, Copyable, CopyBlock, Page, Tabs, Time } from "../ui/basics";
import { later } from "../ui/later";
import { List } from "../ui/list";
import { Loaded, NothingMatches, NothingYet } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toasts";
import { deliveryColumns } from "./delivery-parts";
import { Dropped } from "./dropped";
import { EventRow, LiveControls, NoRows, Waiting } from "./event-list";
import { useLiveRows } from "./live-rows";

const SourceSettings = later(async () => (await import("./more")).SourceSettings);
const SourceCode = later(async () => (await import("./more")).SourceCode);
const StatsCharts = later(async () => (await import("./more")).StatsCharts);

type Detail = Schemas["SourceDetail"];

const TABS = [
  ["", "Events"],
  ["runs", "Runs"],
  ["logs", "Logs & errors"],
  ["statistics", "Statistics"],
  ["settings", "Settings"],
  ["code", "Code"],
] as const;

export function Source() {
  const { id = "", tab = "" } = useRoute().params;
  return <SourceOf key={id} id={id} tab={tab} />;
}

function SourceOf({ id, tab }: { id: string; tab: string }) {
  const resource = useResource(call => headwater.sources.get(id, call), [id]);
  // Not below a form that is being filled in.
  useFresh(resource, { of: id, isOff: tab === "settings" || tab === "code" });
  useOwnAccount(resource.data);
  const source = resource.data;
  const switchOn = async (active: boolean) => {
    resource.put(await updateSource({ id, active }, {}));
    toast(active ? "The source is active." : "The source is inactive.", "good");
  };
  const runNow = async () => {
    await headwater.sources.run(id);
    toast("Started; the run appears in the list of runs.", "good");
  };
  return (
    <Page
      title={source?.name ?? "Source"}
      crumbs={<a href={to("/sources")}>Sources</a>}
      badge={
        source && (
          <Badge tone={source.active ? "good" : "none"}>{source.active ? "Active" : "Inactive"}</Badge>
        )
      }
      about={<Copyable text={id} label="id" />}
      actions={
        source && (
          <>
            {source.next_tick_at_ms !== null && (
              <Button icon="zap" onClick={runNow}>
                Run now
              </Button>
            )}
            <Button icon={source.active ? "pause" : "play"} onClick={() => switchOn(!source.active)}>
              {source.active ? "Switch off" : "Switch on"}
            </Button>
          </>
        )
      }
    >
      <Loaded resource={resource}>
        {detail => (
          <>
            <Tabs
              label="Source"
              tabs={TABS.map(([path, label]) => ({
                label,
                href: to(`/sources/${id}${path && `/${path}`}`),
                isCurrent: tab === path,
              }))}
            />
            {tab === "" && <Events source={detail} />}
            {tab === "runs" && <Runs source={detail} />}
            {tab === "logs" && <Logs id={id} />}
            {tab === "statistics" && <StatsCharts of={id} kind="source" command={firstEvent(detail)} />}
            {tab === "settings" && <SourceSettings resource={resource} />}
            {tab === "code" && <SourceCode resource={resource} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Events({ source }: { source: Detail }) {
  const { id } = source;
  const filters = useFilters(["channel"]);
  const { channel = "" } = filters.query;
  const live = useLiveRows(id, ["emit"]);
  const channels = [...new Set(live.rows.map(row => row.metadata.name))].sort();
  const shown = live.rows.filter(row => channel === "" || (row.metadata.name || "default") === channel);
  return (
    <div class="columns wide-left">
      <section class="card">
        <div class="card-head">
          <h2>Events</h2>
          <select
            class="select"
            aria-label="Channel"
            value={channel}
            onChange={event => filters.set({ channel: event.currentTarget.value })}
          >
            <option value="">All channels</option>
            {[...new Set(["default", ...channels.filter(Boolean), ...(channel ? [channel] : [])])].map(
              name => (
                <option key={name} value={name}>
                  {name}
                </option>
              ),
            )}
          </select>
          <LiveControls live={live} />
        </div>
        <Waiting live={live} />
        <NoRows live={live} />
        {live.stored.data !== undefined && live.rows.length === 0 && <NoEvents source={source} />}
        {live.rows.length > 0 && shown.length === 0 && <NothingMatches onClear={filters.clear} />}
        <ol class="events" aria-label="Events">
          {shown.map(row => (
            <EventRow key={row.id} row={row} />
          ))}
        </ol>
      </section>
      <div class="stack">
        <Trigger source={source} />
        <Dropped dropped={source.dropped} />
        <RecentDeliveries id={id} />
      </div>
    </div>
  );
}

/** Sends a request to the source's endpoint; without one, publishes an event as the source. */
function firstEvent({ id, configured_props: props }: Detail): string {
  const url = props.http?.endpoint_url;
  return url
    ? postCommand(url, { name: "world" })
    : apiCommand(`/sources/${id}/events`, { method: "POST", body: { event: { hello: "world" } } });
}

function NoEvents({ source }: { source: Detail }) {
  const url = source.configured_props.http?.endpoint_url;
  return (
    <NothingYet icon="radio" title="Waiting for the first event" command={firstEvent(source)}>
      {url
        ? "Send a request to the endpoint, and its event appears here by itself:"
        : "The source emits when it runs. This command publishes an event as the source, without running it:"}
    </NothingYet>
  );
}

function Trigger({ source }: { source: Detail }) {
  const url = source.configured_props.http?.endpoint_url;
  const send = async () => {
    await headwater.publish(source.id, { event: { hello: "world", sent_from: "dashboard" } });
    toast("Published; it appears in the list.", "good");
  };
  return (
    <Card title={url ? "Endpoint" : "Publish"}>
      <div class="stack tight">
        {url && <CopyBlock text={url} label="Endpoint address" />}
        {url && <CopyBlock text={postCommand(url, { name: "world" })} label="Request as curl" />}
        <div>
          <Button icon="send" isSmall onClick={send}>
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

function Runs({ source }: { source: Detail }) {
  const { id } = source;
  const url = source.configured_props.http?.endpoint_url;
  const filters = useFilters(["outcome"]);
  const { outcome, after, before } = filters.query;
  const isFailed = outcome === "error";
  const resource = useResource(
    call =>
      headwater.sources.runs(id, { limit: 25, outcome: isFailed ? "error" : undefined, after, before }, call),
    [id, outcome, after, before],
  );
  useFresh(resource, { of: id, on: ["runs"], pace: ROWS, isOff: Boolean(after || before) });
  return (
    <section class="card">
      <div class="card-head">
        <h2>Runs of the last 7 days</h2>
        <select
          class="select"
          aria-label="Outcome"
          value={outcome ?? ""}
          onChange={event => filters.set({ outcome: event.currentTarget.value })}
        >
          <option value="">All outcomes</option>
          <option value="error">Failed only</option>
        </select>
      </div>
      <List
        resource={resource}
        filters={filters}
        empty={
          <NothingYet icon="clock" title="No runs yet" {...(url && { command: firstEvent(source) })}>
            A run starts with a tick of the timer, a request to the endpoint, or an event of an emitter that
            the source listens to{url ? ". This command starts one:" : "."}
          </NothingYet>
        }
        columns={[
          {
            head: "Run",
            cell: run => (
              <>
                <span class="title">{words(run.trigger)}</span>
                <div class="sub">{run.id}</div>
              </>
            ),
          },
          {
            head: "Outcome",
            cell: run => (
              <>
                <Badge tone={run.outcome === "ok" ? "good" : "bad"}>{run.outcome}</Badge>
                {run.error && <div class="sub">{run.error.message}</div>}
              </>
            ),
          },
          { head: "Emitted", isNumber: true, cell: run => run.emitted },
          { head: "Took", isNumber: true, cell: run => duration(run.duration_ms) },
          { head: "CPU", isNumber: true, cell: run => duration(run.cpu_ms) },
          {
            head: "Memory",
            isNumber: true,
            cell: run => (run.memory_bytes === null ? "–" : bytes(run.memory_bytes)),
          },
          { head: "Ended", cell: run => <Time ms={run.finished_at_ms} /> },
        ]}
      />
    </section>
  );
}

function Logs({ id }: { id: string }) {
  const filters = useFilters(["level"]);
  const { level = "" } = filters.query;
  const live = useLiveRows(id, ["error", "log"]);
  const shown = live.rows.filter(
    ({ metadata, event }) =>
      level === "" ||
      (level === "error" ? metadata.name === "$errors" || event.level === "error" : event.level === level),
  );
  return (
    <section class="card">
      <div class="card-head">
        <h2>Logs and errors</h2>
        <select
          class="select"
          aria-label="Level"
          value={level}
          onChange={event => filters.set({ level: event.currentTarget.value })}
        >
          <option value="">All levels</option>
          {["error", "warn", "info", "log", "debug"].map(one => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
        <LiveControls live={live} />
      </div>
      <Waiting live={live} />
      <NoRows live={live} />
      {live.stored.data !== undefined && live.rows.length === 0 && (
        <NothingYet
          icon="code"
          title="Nothing logged"
          command={`console.log("order", order.id);   // a line here\nthrow new Error("no order");      // an error here`}
        >
          What the code prints, and errors that it throws, appear here in one order:
        </NothingYet>
      )}
      {live.rows.length > 0 && shown.length === 0 && <NothingMatches onClear={filters.clear} />}
      <ol class="events" aria-label="Logs and errors">
        {shown.map(row => (
          <EventRow key={`${row.metadata.name}${row.id}`} row={row} />
        ))}
      </ol>
    </section>
  );
}
