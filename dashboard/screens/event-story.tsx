import type { Schemas } from "../api/client";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { duration, words } from "../lib/format";
import { Card, Copyable, CopyBlock, Moment } from "../ui/basics";
import { Thing } from "../ui/thing";
import { EditEvent } from "./edit-event";
import { Branches } from "./event-branches";
import { Step } from "./event-step";
import { Payload } from "./payload";
import { RunOutcome } from "./source-parts";

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
              Run <a href={to(`/runs/${trace.run.id}`)}>{trace.run.id}</a> ({words(trace.run.trigger)}){" "}
              <RunOutcome {...trace.run} />
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
        <Branches trace={trace} replay={replay} />
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
            <Payload value={trace.event} of={id} />
          ) : (
            <p class="muted">
              {trace.state === "queued" ? "It is shown once it is stored." : "Its data is no longer kept."}
            </p>
          )}
        </Card>
        <Card title="Publish it again">
          <div class="stack tight">
            {command.text !== null ? (
              <CopyBlock text={command.text} label="The event as curl" />
            ) : (
              <p class="muted">{command.reason}</p>
            )}
            {isKept && !trace.name?.startsWith("$") && (
              <div>
                <EditEvent trace={trace} />
              </div>
            )}
          </div>
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
