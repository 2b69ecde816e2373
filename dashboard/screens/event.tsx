import { useEffect, useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";
import { replayEvent } from "../api/calls";
import { headwater, type Schemas } from "../api/client";
import { useReloadSoon } from "../api/fresh";
import { useLive } from "../api/live";
import { nameOf } from "../api/names";
import { type Resource, useResource } from "../api/resource";
import { to } from "../lib/address";
import { counted } from "../lib/format";
import { orgId } from "../lib/shown-account";
import { Badge, Button, Copyable, Page } from "../ui/basics";
import { useCountCheck } from "../ui/count-check";
import { Confirm } from "../ui/dialog";
import { Loaded } from "../ui/states";
import { Thing } from "../ui/thing";
import { toast } from "../ui/toasts";
import { Story } from "./event-story";

type Trace = Schemas["EventTrace"];

const LOOK_MS = 5000;
/** What is unknown of an event may still come to be known this long. */
const YOUNG_MS = 60_000;

/** Whether the trace will change by what is in no stream: an event that is queued, or a workflow that has not taken it. */
const isUnderWay = ({ state, dispatch, listeners, emitted_at_ms }: Trace): boolean =>
  state === "queued" ||
  dispatch !== null ||
  listeners.some(
    one =>
      one.state === "queued" || (one.state === "unknown" && Date.now() - (emitted_at_ms ?? 0) < YOUNG_MS),
  );

/** Loads the trace again when one of its deliveries or listeners moves, and now and then while it is under way. */
function useLiveTrace(resource: Resource<Trace>): void {
  const { data: trace } = resource;
  const soon = useReloadSoon(resource);
  useLive(
    { deliveries: true, runs: true, org: orgId.value },
    {
      onDelivery: one => one.event_id === trace?.event_id && soon(),
      onRun: run => trace?.listeners.some(one => one.listener_id === run.source_id) && soon(),
      onReady: () => soon(),
      onSkipped: () => soon(),
    },
  );
  useEffect(() => {
    if (!trace || !isUnderWay(trace)) return;
    const look = setInterval(() => soon(), LOOK_MS);
    return () => clearInterval(look);
  }, [trace]);
}

/** The way of one event: its source, the subscriptions, the deliveries, and their attempts. */
export function EventTrace() {
  const { emitter = "", id = "" } = useRoute().params;
  const resource = useResource(
    call => {
      const query = { emitter_id: emitter, expand: "event" as const };
      return headwater.request("get", "/events/{id}", { params: { id }, query }, call);
    },
    [emitter, id],
  );
  useLiveTrace(resource);
  const [isAsking, setAsking] = useState(false);
  const matched = resource.data?.subscriptions.filter(one => one.outcome === "matched").length ?? 0;
  const arrived = resource.data?.deliveries.filter(one => one.state === "delivered").length ?? 0;
  const check = useCountCheck(matched);
  const replay = async (listenerId?: string) => {
    const { deliveries, runs, workflows, skipped } = await replayEvent(id, emitter, listenerId);
    const sent = deliveries.length + runs.length + workflows.length;
    if (sent > 0) toast(`It is sent again to ${counted(sent, "listener")}.`, "good");
    for (const one of skipped) toast(`${nameOf(one.listener_id)}: ${one.reason}`, "bad");
    if (sent + skipped.length === 0) toast("Nothing is subscribed to it.", "info");
    resource.reload();
  };
  return (
    <Page
      title="Where did it go?"
      crumbs={
        <>
          <a href={to("/sources")}>Sources</a> / <Thing id={emitter} />
        </>
      }
      badge={resource.data && <TraceBadge trace={resource.data} />}
      about={<Copyable text={id} label="event id" />}
      actions={
        resource.data && (
          <Button changes icon="refresh" onClick={() => setAsking(true)}>
            Replay to all …
          </Button>
        )
      }
    >
      <Loaded resource={resource}>
        {trace => <Story trace={trace} replay={replay} emitter={emitter} id={id} />}
      </Loaded>
      {isAsking && (
        <Confirm
          title={`Replay to ${counted(matched, "listener")}?`}
          action={`Replay to ${counted(matched, "listener")}`}
          isDisabled={!check.isDone}
          onClose={() => setAsking(false)}
          onConfirm={() => replay()}
        >
          <p>
            Each gets the event once more
            {arrived > 0 &&
              `; ${arrived === 1 ? "1 of them has" : `${arrived} of them have`} received it already`}
            .
          </p>
          {check.field}
        </Confirm>
      )}
    </Page>
  );
}

function TraceBadge({ trace }: { trace: Trace }) {
  if (trace.state === "queued")
    return (
      <Badge tone="warn" isLive>
        Queued
      </Badge>
    );
  const failed = trace.deliveries.filter(one => one.state === "failed").length;
  const pending = trace.deliveries.filter(one => one.state === "pending").length;
  if (failed > 0) return <Badge tone="bad">{failed} failed</Badge>;
  if (pending > 0)
    return (
      <Badge tone="warn" isLive>
        {pending} pending
      </Badge>
    );
  return <Badge tone="good">{trace.deliveries.length > 0 ? "Delivered" : "Emitted"}</Badge>;
}
