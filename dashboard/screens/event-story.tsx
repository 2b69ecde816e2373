import type { ComponentChildren } from "preact";
import type { Schemas } from "../api/client";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { duration, sentence, words } from "../lib/format";
import { Badge, Button, Card, Copyable, CopyBlock, LinkButton, Moment, Time, type Tone } from "../ui/basics";
import { Icon, type IconName } from "../ui/icon";
import { JsonTree } from "../ui/json-tree";
import { Thing } from "../ui/thing";
import { Attempts } from "./attempts";
import { DeliveryState } from "./delivery-parts";

type Trace = Schemas["EventTrace"];

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

/** The way of an event step by step: its emitter, and each subscription with its delivery; beside it the event itself. */
export function Story({ trace, replay, emitter, id }: StoryProps) {
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
      title={<Thing id={subscription.listener_id} name={subscription.listener_name} />}
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
