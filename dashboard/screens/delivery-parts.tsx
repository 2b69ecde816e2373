import type { Schemas } from "../api/client";
import { to } from "../lib/address";
import { duration, exactTime } from "../lib/format";
import { Badge, Time, type Tone } from "../ui/basics";
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

/** The HTTP status of an attempt, or that there was no response. */
export function Status({ attempt }: { attempt: Attempt | null }) {
  if (attempt === null) return <span class="muted">–</span>;
  const isGood = attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
  return (
    <Badge tone={isGood ? "good" : "bad"} isPlain>
      {attempt.status ?? "no response"}
    </Badge>
  );
}

export const DeliveryTable = ({ rows, hasWebhook = true }: { rows: Delivery[]; hasWebhook?: boolean }) => (
  <table class="table stacking">
    <thead>
      <tr>
        <th>Event</th>
        {hasWebhook && <th>Webhook</th>}
        <th>State</th>
        <th>Last response</th>
        <th class="number">Attempts</th>
        <th>Time</th>
      </tr>
    </thead>
    <tbody>
      {rows.map(row => (
        <tr key={row.id}>
          <td>
            <a class="title" href={to(`/deliveries/${row.id}`)}>
              {row.event_name || "Event"} <span class="mono sub">{row.event_id}</span>
            </a>
            <div class="sub">
              from <Thing id={row.emitter_id} />
            </div>
          </td>
          {hasWebhook && (
            <td>
              <Thing id={row.webhook_id} />
            </td>
          )}
          <td>
            <DeliveryState state={row.state} />
            {row.state === "pending" && row.next_attempt_at_ms !== null && row.attempts_made > 0 && (
              <div class="sub">
                next <Time ms={row.next_attempt_at_ms} />
              </div>
            )}
          </td>
          <td>
            <Status attempt={row.last_attempt} />
            {row.last_attempt && <span class="sub"> {duration(row.last_attempt.latency_ms)}</span>}
          </td>
          <td class="number" data-label="Attempts">
            {row.attempts_made}
          </td>
          <td>
            <Time ms={row.last_attempt?.at_ms ?? row.created_at * 1000} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

/** Headers that differ from attempt to attempt, as they were sent. */
const headersOf = ({ number, at_ms }: Attempt): Record<string, string> => ({
  "webhook-timestamp": String(Math.floor(at_ms / 1000)),
  "x-headwater-attempt": String(number),
});

/** The attempts of a delivery, newest first; the response is a stranger's text. */
export const Attempts = ({ attempts, hasHeaders = false }: { attempts: Attempt[]; hasHeaders?: boolean }) => (
  <ol class="attempts">
    {[...attempts].reverse().map(attempt => (
      <li key={attempt.number}>
        <div class="row">
          <strong>Attempt {attempt.number}</strong>
          <Status attempt={attempt} />
          <span class="muted">{duration(attempt.latency_ms)}</span>
          {attempt.trigger === "manual" && <Badge tone="info">By hand</Badge>}
          <span class="muted" title={exactTime(attempt.at_ms)}>
            <Time ms={attempt.at_ms} />
          </span>
        </div>
        {hasHeaders && (
          <p class="sub mono">
            {Object.entries(headersOf(attempt))
              .map(([name, value]) => `${name}: ${value}`)
              .join(" · ")}
          </p>
        )}
        {attempt.error && <p class="fault">{attempt.error}</p>}
        {attempt.response && (
          <section tabIndex={0} aria-label={`Response to attempt ${attempt.number}`} class="response">
            <pre>{attempt.response}</pre>
          </section>
        )}
      </li>
    ))}
  </ol>
);
