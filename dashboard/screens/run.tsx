import { useRoute } from "preact-iso/router";
import { headwater, type Schemas } from "../api/client";
import { useReloadSoon } from "../api/fresh";
import { useLive } from "../api/live";
import { useOwnAccount } from "../api/own-account";
import { useResource } from "../api/resource";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { bytes, counted, duration, words } from "../lib/format";
import { orgId } from "../lib/shown-account";
import { Card, Copyable, CopyBlock, LinkButton, Moment, Page } from "../ui/basics";
import { LogLines } from "../ui/log-lines";
import { Loaded } from "../ui/states";
import { Table } from "../ui/table";
import { Thing } from "../ui/thing";
import { deliveryColumns } from "./delivery-parts";
import { RunError } from "./run-error";
import { TimeLine } from "./run-time-line";
import { RunOutcome } from "./source-parts";

type Detail = Schemas["RunDetail"];

/** One run: what it threw, its way through time, what it emitted and where that went. */
export function Run() {
  const { id = "" } = useRoute().params;
  const resource = useResource(call => headwater.sources.getRun(id, call), [id]);
  useOwnAccount(resource.data);
  const soon = useReloadSoon(resource);
  useLive(
    { deliveries: true, org: orgId.value },
    {
      onDelivery: one => one.run_id === id && soon(),
      onReady: () => soon(),
      onSkipped: () => soon(),
    },
  );
  const run = resource.data;
  return (
    <Page
      title="Run"
      crumbs={
        run && (
          <>
            <a href={to("/sources")}>Sources</a> / <Thing id={run.source_id} name={run.source_name} /> /{" "}
            <a href={to(`/sources/${run.source_id}/runs`)}>Runs</a>
          </>
        )
      }
      badge={run && <RunOutcome {...run} />}
      about={<Copyable text={id} label="id" />}
      actions={
        run?.error_event && (
          <LinkButton icon="code" href={to(`/sources/${run.source_id}/code`, { input: run.error_event.id })}>
            Open in the editor
          </LinkButton>
        )
      }
    >
      <Loaded resource={resource}>{detail => <Parts run={detail} />}</Loaded>
    </Page>
  );
}

const Parts = ({ run }: { run: Detail }) => (
  <div class="columns wide-left">
    <div class="stack">
      {run.error && (
        <Card title="Error">
          {run.error_event ? (
            <RunError event={run.error_event.event} sourceId={run.source_id} errorId={run.error_event.id} />
          ) : (
            <pre class="response fault">{`${run.error.code}: ${run.error.message}`}</pre>
          )}
        </Card>
      )}
      <TimeLine run={run} />
      {run.deliveries.length > 0 && (
        <Card title="Deliveries" isPadded={false}>
          <Table columns={deliveryColumns({ hasEmitter: false })} rows={run.deliveries} />
        </Card>
      )}
    </div>
    <div class="stack">
      <Facts run={run} />
      <Card title="Log">
        {run.logs.length > 0 ? (
          <LogLines
            lines={run.logs.map(({ event }) => ({
              level: String(event.level ?? "log"),
              message: String(event.message ?? ""),
            }))}
          />
        ) : (
          <p class="muted">It logged nothing, or its lines are no longer among the last 100 of its source.</p>
        )}
      </Card>
      <Card title="Input">
        <p class="muted">
          {run.error_event
            ? "What it received is with its error."
            : run.error
              ? "What it received was kept with its error, which is no longer among the last 100 of its source."
              : "What a run received that succeeded is not stored."}
        </p>
      </Card>
      <Card title="Read this page with curl">
        <CopyBlock text={apiCommand(`/runs/${run.id}`)} label="This page as curl" />
      </Card>
    </div>
  </div>
);

function Facts({ run }: { run: Detail }) {
  const left = run.emitted - run.events.length;
  const dropped = Object.entries(run.dropped);
  return (
    <Card title="Facts">
      <dl class="facts">
        <dt>Trigger</dt>
        <dd>{words(run.trigger)}</dd>
        <dt>Queued</dt>
        <dd>
          <Moment ms={run.queued_at_ms} />
        </dd>
        <dt>Took</dt>
        <dd>{run.started_at_ms === null ? "It was not executed" : duration(run.duration_ms)}</dd>
        {run.cpu_ms !== null && (
          <>
            <dt>CPU</dt>
            <dd>{duration(run.cpu_ms)}</dd>
          </>
        )}
        {run.memory_bytes !== null && (
          <>
            <dt>Memory</dt>
            <dd>{bytes(run.memory_bytes)}</dd>
          </>
        )}
        <dt>Emitted</dt>
        <dd>
          {counted(run.emitted, "event")}
          {left > 0 && (
            <div class="sub">
              {counted(left, "of them is", "of them are")} no longer kept, or behind the first 100.
            </div>
          )}
        </dd>
        {dropped.length > 0 && (
          <>
            <dt>Dropped</dt>
            <dd>{dropped.map(([reason, count]) => `${count} ${words(reason).toLowerCase()}`).join(", ")}</dd>
          </>
        )}
        {run.trace_id && (
          <>
            <dt>Trace</dt>
            <dd>
              <Copyable text={run.trace_id} label="trace id" />
            </dd>
          </>
        )}
      </dl>
    </Card>
  );
}
