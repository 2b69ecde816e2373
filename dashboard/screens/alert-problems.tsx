import type { ComponentChildren } from "preact";
import type { Schemas } from "../api/client";
import { to } from "../lib/address";
import { counted, exactTime, sentence, words } from "../lib/format";
import { dayOf, type Problem, withLocalTimes } from "../lib/problems";
import { Badge, LinkButton, Time, type Tone } from "../ui/basics";
import type { Column } from "../ui/table";
import { Thing } from "../ui/thing";
import { affectedBy, causeInWords } from "./issue-parts";

type Attention = Schemas["Attention"];

/** What is known of the present. */
export interface Present {
  attention: Attention;
  /** Issues by id. */
  issues: Map<string, Schemas["Issue"]["state"]>;
}

type State = "open" | "acknowledged" | "recovered" | "ended";

const STATES: Record<State, [string, Tone]> = {
  open: ["Open", "bad"],
  acknowledged: ["Acknowledged", "warn"],
  recovered: ["Recovered", "good"],
  ended: ["Ended", "none"],
};

/** Whether the thing is among those that need somebody now; a list that is not whole does not say that it is not. */
const isAmong = (id: string, rows: { id: string }[], count: number): boolean =>
  rows.some(row => row.id === id) || rows.length < count;

/** Whether a problem goes on: it has no end while nothing says so. */
export function stateOf(
  { kind, subject, latest, recoveredMs, isSuperseded }: Problem,
  { attention, issues }: Present,
): State {
  if (recoveredMs !== undefined) return "recovered";
  if (isSuperseded) return "ended";
  const { needs, disabled, failing, sources, connections, quotas } = attention;
  const id = subject?.id ?? "";
  switch (kind) {
    case "webhook":
      return isAmong(id, disabled, needs.disabled) || isAmong(id, failing, needs.failing) ? "open" : "ended";
    case "delivery": {
      const state = issues.get(String(latest.details.issue_id));
      return state === "resolved" || state === undefined ? "ended" : state;
    }
    case "source":
      return isAmong(id, sources, needs.sources) ? "open" : "ended";
    case "connection":
      return isAmong(id, connections, needs.connections) ? "open" : "ended";
    case "quota": {
      const isToday = dayOf(latest.at_ms) === dayOf(Date.now());
      return isToday && quotas.some(({ quota }) => quota === latest.details.quota) ? "open" : "ended";
    }
    default:
      return "open";
  }
}

export const isOpen = (problem: Problem, present: Present): boolean =>
  ["open", "acknowledged"].includes(stateOf(problem, present));

/** What happened, in a few words; of a type that is not known here, the server's own. */
function whatHappened({ latest: { type, details, message } }: Problem): ComponentChildren {
  const cause = typeof details.cause === "string" ? ` (${causeInWords(details.cause)})` : "";
  switch (type) {
    case "webhook.failing":
      return `Every attempt fails${cause}`;
    case "webhook.will_be_disabled":
      return (
        <>
          Every attempt fails{cause}; it will be disabled <Time ms={Number(details.will_be_disabled_at_ms)} />
        </>
      );
    case "webhook.disabled":
      return `Disabled${cause}: ${withLocalTimes(String(details.reason ?? ""), exactTime)}`;
    case "delivery.failed":
      return `${counted(Number(details.failed_since_opened ?? 1), "delivery", "deliveries")} without a retry left${cause}`;
    case "source.failing":
      return `${counted(Number(details.failed_runs ?? 1), "run")} failed one after another`;
    case "quota.80":
    case "quota.100":
      return `${type.slice("quota.".length)} % of the day's ${words(String(details.quota)).toLowerCase()} are used`;
    default:
      return sentence(withLocalTimes(message, exactTime));
  }
}

/** Where one goes on from a problem. */
function nextOf({ kind, subject, latest }: Problem): [label: string, address: string] | null {
  const { issue_id } = latest.details;
  if (kind === "delivery" && typeof issue_id === "string") return ["Deliveries", affectedBy(issue_id)];
  if (kind === "webhook" && subject) return ["Causes", to("/issues", { listener_id: subject.id })];
  if (kind === "source" && subject) return ["Runs", to(`/sources/${subject.id}/runs`, { outcome: "error" })];
  if (kind === "connection") return ["Reconnect", to("/connections")];
  return kind === "quota" ? ["Usage", to("/usage")] : null;
}

/** The columns of the list of problems, as they are at present. */
export const problemColumns = (present: Present): Column<Problem>[] => [
  {
    head: "State",
    cell: problem => {
      const [label, tone] = STATES[stateOf(problem, present)];
      return <Badge tone={tone}>{label}</Badge>;
    },
  },
  {
    head: "About",
    label: "about",
    cell: ({ subject }) => (subject ? <Thing {...subject} /> : <span class="muted">this account</span>),
  },
  { head: "What happened", cell: whatHappened },
  {
    head: "Since",
    label: true,
    cell: ({ sinceMs, recoveredMs }) => (
      <>
        <Time ms={sinceMs} />
        {recoveredMs !== undefined && (
          <div class="sub nowrap">
            until <Time ms={recoveredMs} />
          </div>
        )}
      </>
    ),
  },
  {
    head: "",
    cell: problem => {
      const next = nextOf(problem);
      return (
        next && (
          <div class="row end">
            <LinkButton isSmall href={next[1]}>
              {next[0]}
            </LinkButton>
          </div>
        )
      );
    },
  },
];
