import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";
import { replayEvent } from "../api/calls";
import { headwater, type Schemas } from "../api/client";
import { useReloadSoon } from "../api/fresh";
import { useLive } from "../api/live";
import { nameOf } from "../api/names";
import { type Resource, useResource } from "../api/resource";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { counted, duration, sentence, words } from "../lib/format";
import { orgId } from "../lib/shown-account";
import {
  Badge,
  Button,
  Card,
  Copyable,
  CopyBlock,
  LinkButton,
  Moment,
  Page,
  Time,
  type Tone,
} from "../ui/basics";
import { useCountCheck } from "../ui/count-check";
import { Confirm } from "../ui/dialog";
import { Icon, type IconName } from "../ui/icon";
import { JsonTree } from "../ui/json-tree";
import { Loaded } from "../ui/states";
import { Thing } from "../ui/thing";
import { toast } from "../ui/toasts";
import { Attempts } from "./attempts";
import { DeliveryState } from "./delivery-parts";

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
          <Button icon="refresh" onClick={() => setAsking(true)}>
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

interface StoryProps {
  trace: Trace;
  emitter: string;
  id: string;
  replay: (listenerId?: string) => Promise<void>;
}

/** Shells take no longer argument. */
const MAX_COMMAND_CHARS = 100_000;

/** The command that publishes the event once more, or why there is none. */
function publishCommand(trace: Trace): { text: string } | { text: null; reason: string } {
  const { emitter_id, name, event } = trace;
  if (!("event" in trace))
    return { text: null, reason: "Without its data there is no command that publishes it again." };
  if (name?.startsWith("$"))
    return { text: null, reason: `Events of channel ${name} are not published by hand.` };
  const kind = emitter_id.startsWith("p_") ? "workflows" : "sources";
  const text = apiCommand(`/${kind}/${emitter_id}/events`, {
    method: "POST",
    body: { event, ...(name && { name }) },
  });
  if (text.length > MAX_COMMAND_CHARS)
    return { text: null, reason: "The event is too long for a command line." };
  return { text };
}

function Story({ trace, replay, emitter, id }: StoryProps) {
  const isKept = "event" in trace;
  const command = publishCommand(trace);
  return (
    <div class="columns wide-left">
      <ol class="way">
        <Step icon="zap" tone="accent" title={<Thing id={trace.emitter_id} />} note="Emitter">
          {trace.run ? (
            <p>
              Run <code>{trace.run.id}</code> ({words(trace.run.trigger)}){" "}
              <Badge tone={trace.run.outcome === "ok" ? "good" : "bad"}>{trace.run.outcome}</Badge>
              {trace.run.started_at_ms !== null && (
                <span class="sub"> took {duration(trace.run.finished_at_ms - trace.run.started_at_ms)}</span>
              )}
            </p>
          ) : (
            <p class="muted">Published, not emitted by a run that is still known.</p>
          )}
          {trace.run?.error && <p class="fault">{trace.run.error.message}</p>}
          {trace.trace_id && <TraceId id={trace.trace_id} url={trace.trace_url} />}
        </Step>
        <Step
          icon="radio"
          tone={trace.state === "queued" ? "warn" : "accent"}
          title={trace.state === "queued" ? "Waits to be stored and fanned out" : "Emitted"}
          note={trace.name ? `Channel ${trace.name}` : "Default channel"}
        >
          {trace.emitted_at_ms !== null && (
            <p>
              <Moment ms={trace.emitted_at_ms} />
            </p>
          )}
        </Step>
        {trace.subscriptions.length === 0 && (
          <Step icon="route" tone="none" title="No subscription" note="Subscriptions">
            <p class="muted">
              Nothing listens to this emitter.{" "}
              <a href={to("/subscriptions", { emitter })}>Subscribe a webhook</a>.
            </p>
          </Step>
        )}
        {matchedFirst(trace.subscriptions).map(subscription => (
          <Branch key={subscription.id} trace={trace} subscription={subscription} replay={replay} />
        ))}
        {trace.dispatch && (
          <Step
            icon="clock"
            tone="warn"
            title="First attempts are about to be made"
            note={words(trace.dispatch.state)}
          />
        )}
      </ol>
      <div class="stack">
        <Card title="Event">
          {isKept ? (
            <JsonTree value={trace.event} />
          ) : (
            <p class="muted">
              {trace.state === "queued" ? "It is shown once it is stored." : "Its data is no longer kept."}
            </p>
          )}
        </Card>
        <Card title="Publish it again">
          {command.text !== null ? (
            <CopyBlock text={command.text} label="The event as curl" />
          ) : (
            <p class="muted">{command.reason}</p>
          )}
        </Card>
        <Card title="Read this page with curl">
          <CopyBlock text={apiCommand(`/events/${id}?emitter_id=${emitter}`)} label="This page as curl" />
        </Card>
      </div>
    </div>
  );
}

/** The id by which a tracing tool knows the event's way, and where it shows it. */
const TraceId = ({ id, url }: { id: string; url: string | null }) => (
  <p class="row">
    Trace <Copyable text={id} label="trace id" />
    {url && (
      <a href={url} target="_blank" rel="noopener noreferrer">
        Show trace
      </a>
    )}
  </p>
);

interface StepProps {
  icon: IconName;
  tone: Tone;
  title: ComponentChildren;
  note: ComponentChildren;
  children?: ComponentChildren;
  actions?: ComponentChildren;
}

const Step = ({ icon, tone, title, note, children, actions }: StepProps) => (
  <li class={`step ${tone}`}>
    <span class="dot">
      <Icon name={icon} />
    </span>
    <div class="card pad stack tight">
      <div class="spread">
        <div>
          <div class="sub">{note}</div>
          <h2>{title}</h2>
        </div>
        {actions}
      </div>
      {children}
    </div>
  </li>
);

const matchedFirst = (subscriptions: Trace["subscriptions"]): Trace["subscriptions"] =>
  [...subscriptions].sort((a, b) => Number(b.outcome === "matched") - Number(a.outcome === "matched"));

const OUTCOMES: Record<string, [string, Tone]> = {
  matched: ["Matched", "good"],
  filtered: ["Filtered out", "warn"],
  "other-channel": ["Other channel", "none"],
  "created-later": ["Created later", "none"],
};

function Branch({
  trace,
  subscription,
  replay,
}: {
  trace: Trace;
  subscription: Trace["subscriptions"][number];
  replay: (listenerId?: string) => Promise<void>;
}) {
  const [text, tone] = OUTCOMES[subscription.outcome] ?? [subscription.outcome, "none"];
  const delivery = trace.deliveries.find(one => one.subscription_id === subscription.id);
  const listener = trace.listeners.find(one => one.subscription_id === subscription.id);
  const stepTone: Tone =
    delivery?.state === "failed" ? "bad" : delivery?.state === "pending" ? "warn" : delivery ? "good" : tone;
  return (
    <Step
      icon={/^(wh|ds|ac)_/.test(subscription.listener_id) ? "webhook" : "zap"}
      tone={stepTone}
      note={
        <span class="row">
          Subscription <code>{subscription.id}</code> <Badge tone={tone}>{text}</Badge>
        </span>
      }
      title={<Thing id={subscription.listener_id} />}
      actions={
        <Button isSmall icon="refresh" onClick={() => replay(subscription.listener_id)}>
          Replay to this
        </Button>
      }
    >
      {subscription.reason && <p class="muted">{sentence(subscription.reason)}.</p>}
      {delivery && (
        <>
          <div class="row">
            <DeliveryState state={delivery.state} />
            <LinkButton isSmall href={to(`/deliveries/${delivery.id}`)}>
              Delivery
            </LinkButton>
            {delivery.next_attempt_at_ms !== null && (
              <span class="muted">
                next attempt <Time ms={delivery.next_attempt_at_ms} />
              </span>
            )}
          </div>
          {delivery.waiting_for && <p class="muted">Waits for {delivery.waiting_for}.</p>}
          <Attempts attempts={delivery.attempts} listenerId={subscription.listener_id} />
        </>
      )}
      {listener && (
        <p class="row">
          <Badge tone={listener.state === "failed" ? "bad" : listener.state === "finished" ? "good" : "warn"}>
            {words(listener.state)}
          </Badge>
          {listener.run && <code>{listener.run.id}</code>}
        </p>
      )}
    </Step>
  );
}
