import type { Schemas } from "../api/client";
import { isAgents, isWebhook } from "../api/listeners";
import { to } from "../lib/address";
import { now } from "../lib/clock";
import { dayTime, duration, words } from "../lib/format";
import { Badge, Time, type Tone } from "../ui/basics";
import type { Column } from "../ui/table";
import { Thing } from "../ui/thing";

type Delivery = Schemas["Delivery"];
export type Attempt = NonNullable<Delivery["last_attempt"]>;

const TONES: Record<Delivery["state"], Tone> = {
  pending: "warn",
  delivered: "good",
  failed: "bad",
  cancelled: "none",
};

export const DeliveryState = ({ state }: { state: Delivery["state"] }) => (
  <Badge tone={TONES[state]} isLive={state === "pending"}>
    {state === "pending" ? "Pending" : state.charAt(0).toUpperCase() + state.slice(1)}
  </Badge>
);

interface StatusProps {
  attempt: Attempt | null;
  /** Where it went. */
  listenerId: string;
}

/** The HTTP status of an attempt, or that there was no response; without a request, that it failed. */
export function Status({ attempt, listenerId }: StatusProps) {
  if (attempt === null) return <span class="muted">–</span>;
  const wasRequested =
    (isWebhook(listenerId) || isAgents(listenerId)) && !attempt.error?.startsWith("function: ");
  const isGood = attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
  return (
    <Badge tone={isGood ? "good" : "bad"} isPlain>
      {attempt.status ?? (wasRequested ? "no response" : "failed")}
    </Badge>
  );
}

interface Shown {
  /** False where all of them go to one listener. */
  hasWebhook?: boolean;
  /** False where all of them come from one emitter. */
  hasEmitter?: boolean;
}

/** The columns of every table of deliveries. */
export const deliveryColumns = ({ hasWebhook = true, hasEmitter = true }: Shown = {}): Column<Delivery>[] => [
  {
    head: "Event",
    cell: row => (
      <>
        <div class="event-of">
          <a class="title" href={to(`/deliveries/${row.id}`)}>
            {row.event_name || "Event"}
          </a>{" "}
          {row.event_preview && <code class="sub">{row.event_preview}</code>}
        </div>
        <div class="sub">
          {hasEmitter && (
            <>
              from <Thing id={row.emitter_id} name={row.emitter_name} />{" "}
            </>
          )}
          <span class="mono">{row.event_id}</span>
        </div>
      </>
    ),
  },
  ...(hasWebhook ? [TO] : []),
  {
    head: "State",
    cell: row => (
      <>
        <DeliveryState state={row.state} />
        {row.reason && <div class="sub nowrap">{words(row.reason)}</div>}
        {row.state === "pending" && row.next_attempt_at_ms !== null && row.attempts_made > 0 && (
          <div class="sub">
            next <Time ms={Math.max(row.next_attempt_at_ms, now.value)} />
          </div>
        )}
      </>
    ),
  },
  {
    head: "Last response",
    cell: row => (
      <>
        <Status attempt={row.last_attempt} listenerId={row.webhook_id} />
        {row.last_attempt && <span class="sub"> {duration(row.last_attempt.latency_ms)}</span>}
        {row.last_attempt?.error && <div class="sub why">{row.last_attempt.error}</div>}
      </>
    ),
  },
  { head: "Attempts", isNumber: true, cell: row => row.attempts_made },
  {
    head: "Time",
    cell: row => {
      const ms = row.last_attempt?.at_ms ?? row.created_at * 1000;
      return (
        <>
          <Time ms={ms} /> <div class="sub nowrap">{dayTime(ms)}</div>
        </>
      );
    },
  },
];

const TO: Column<Delivery> = {
  head: "To",
  label: "to",
  cell: row => <Thing id={row.webhook_id} name={row.webhook_name} />,
};
