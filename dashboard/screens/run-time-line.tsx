import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Schemas } from "../api/client";
import { to } from "../lib/address";
import { counted, duration, exactTime, words } from "../lib/format";
import { Badge, Button, type Tone } from "../ui/basics";
import { Thing } from "../ui/thing";
import { DeliveryState } from "./delivery-parts";

type Run = Schemas["RunDetail"];

/** Something that happened in a run, or because of it. */
interface Moment {
  /** Unix milliseconds. */
  at: number;
  tone: Tone;
  what: string;
  text: ComponentChildren;
}

const TONES: Record<string, Tone> = { error: "bad", warn: "warn" };

const lineOf = ({ event, indexed_at_ms }: Run["logs"][number]): Moment => ({
  // When the line was written; its event has the moment at which the run was recorded.
  at: typeof event.ts === "number" ? event.ts : indexed_at_ms,
  tone: TONES[String(event.level)] ?? "info",
  what: String(event.level ?? "log"),
  text: <span class="mono">{String(event.message ?? "")}</span>,
});

/** Everything that is known of a run, in order of time; what happened at one moment, in the order of its steps. */
function momentsOf(run: Run): Moment[] {
  const { source_id, queued_at_ms, started_at_ms, duration_ms, finished_at_ms, outcome } = run;
  const lines = run.logs.map(lineOf);
  // By two clocks: what a run wrote, it wrote before its end.
  const endedAt =
    started_at_ms === null
      ? finished_at_ms
      : Math.max(started_at_ms + duration_ms, ...lines.map(({ at }) => at));
  const moments: Moment[] = [
    { at: queued_at_ms, tone: "none", what: "Queued", text: `Trigger: ${words(run.trigger)}` },
    ...(started_at_ms === null
      ? []
      : [
          {
            ...{ at: started_at_ms, tone: "info" as const, what: "Started" },
            text: `It waited ${duration(Math.max(0, started_at_ms - queued_at_ms))}`,
          },
        ]),
    ...lines,
    {
      ...{ at: endedAt, tone: outcome === "ok" ? ("good" as const) : ("bad" as const), what: "Ended" },
      text: outcome === "ok" ? `It took ${duration(duration_ms)}` : `${outcome}: ${run.error?.message ?? ""}`,
    },
    ...run.events.map(
      ({ id, indexed_at_ms, metadata }): Moment => ({
        ...{ at: indexed_at_ms, tone: "accent", what: "Emitted" },
        text: (
          <a href={to(`/events/${source_id}/${id}`)}>
            {metadata.summary ?? `${metadata.name || "default channel"} ${id}`}
          </a>
        ),
      }),
    ),
    ...run.deliveries.map(({ id, state, webhook_id, webhook_name, last_attempt, created_at }): Moment => {
      const at = last_attempt ? last_attempt.at_ms + last_attempt.latency_ms : 1000 * created_at;
      return {
        ...{ at, tone: state === "failed" ? "bad" : "none", what: last_attempt ? "Attempt" : "Waits" },
        text: (
          <>
            <a href={to(`/deliveries/${id}`)}>to</a> <Thing id={webhook_id} name={webhook_name} />{" "}
            <DeliveryState state={state} />
          </>
        ),
      };
    }),
  ];
  return moments
    .map((moment, i) => ({ moment, i }))
    .sort((a, b) => a.moment.at - b.moment.at || a.i - b.i)
    .map(({ moment }) => moment);
}

/** More moments than these are shown on request. */
const SHOWN = 40;

/** When a run was queued, started, wrote, ended and emitted, each with its distance from the beginning. */
export function TimeLine({ run }: { run: Run }) {
  const [isWhole, setWhole] = useState(false);
  const moments = momentsOf(run);
  const shown = isWhole ? moments : moments.slice(0, SHOWN);
  return (
    <section class="card">
      <div class="card-head">
        <h2>Time line</h2>
      </div>
      <Proportions run={run} />
      <ol class="brief time-line" aria-label="Time line">
        {shown.map(({ at, tone, what, text }, i) => (
          <li key={i}>
            <time class="mono sub" dateTime={new Date(at).toISOString()} title={exactTime(at)}>
              +{duration(Math.max(0, at - run.queued_at_ms))}
            </time>
            <Badge tone={tone}>{what}</Badge>
            <span class="grow">{text}</span>
          </li>
        ))}
      </ol>
      {shown.length < moments.length && (
        <p class="card-body">
          <Button isSmall onClick={() => setWhole(true)}>
            {counted(moments.length - shown.length, "more")}
          </Button>
        </p>
      )}
    </section>
  );
}

const WIDTH = 100;

/** How long the run waited and ran, beside each other. */
function Proportions({ run: { queued_at_ms, started_at_ms, duration_ms } }: { run: Run }) {
  if (started_at_ms === null) return null;
  const waited = Math.max(0, started_at_ms - queued_at_ms);
  const whole = Math.max(1, waited + duration_ms);
  const x = (WIDTH * waited) / whole;
  return (
    <div class="card-body">
      <svg
        class="proportions"
        viewBox={`0 0 ${WIDTH} 4`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`It waited ${duration(waited)} and ran ${duration(duration_ms)}`}
      >
        <rect width={x} height="4" fill="var(--line-strong)" />
        <rect x={x} width={WIDTH - x} height="4" fill="var(--accent-fill)" />
      </svg>
    </div>
  );
}
