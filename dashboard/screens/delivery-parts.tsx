import type { Schemas } from "../api/client";
import { to } from "../lib/address";
import { duration } from "../lib/format";
import { Badge, Time, type Tone } from "../ui/basics";
import { Table } from "../ui/table";
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
  <Table
    heads={[
      "Event",
      ...(hasWebhook ? ["Webhook"] : []),
      "State",
      "Last response",
      { number: "Attempts" },
      "Time",
    ]}
    rows={rows}
  >
    {row => (
      <>
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
      </>
    )}
  </Table>
);
