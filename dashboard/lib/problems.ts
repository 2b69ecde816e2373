/** The parts of an alert that a line of a problem shows (docs/alerts.md). */
export interface Alert {
  type: string;
  subject: { id: string; name: string | null } | null;
  message: string;
  details: Record<string, string | number | null>;
  at_ms: number;
}

/** One thing that went wrong, from its first alert to its end, as far as that raised one. */
export interface Problem {
  id: string;
  /** What the types of its alerts begin with: `webhook`, `delivery`, `source`, `connection`, `quota`. */
  kind: string;
  subject: Alert["subject"];
  sinceMs: number;
  /** The newest that is not its recovery. */
  latest: Alert;
  /** How many alerts it raised, with that of its recovery. */
  alerts: number;
  recoveredMs?: number;
  /** True once the same thing has another problem of this kind, which began later. */
  isSuperseded?: true;
}

const DAY_MS = 86_400_000;

/** The number of a day (UTC), by which quotas are counted. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

const sinceOf = ({ details, at_ms }: Alert): number =>
  typeof details.failing_since_ms === "number" ? details.failing_since_ms : at_ms;

/** What alerts of one problem have in common; a listener, source or connection has one problem of a kind at a time. */
function keyOf(alert: Alert): string {
  const { type, subject, details, at_ms } = alert;
  const [kind = ""] = type.split(".");
  if (kind === "delivery") return `${kind} ${details.issue_id ?? subject?.id}`;
  if (kind === "quota") return `${kind} ${details.quota} ${dayOf(at_ms)}`;
  return `${kind} ${subject?.id ?? ""}`;
}

/** Whether an alert begins something else than the problem that its subject has. */
const isAnother = (problem: Problem, alert: Alert): boolean =>
  problem.recoveredMs !== undefined ||
  problem.latest.type === "webhook.disabled" ||
  problem.kind === "connection" ||
  (typeof alert.details.failing_since_ms === "number" && alert.details.failing_since_ms !== problem.sinceMs);

/** Returns the problems that alerts are about, the newest first. `alerts`: the newest first, as the API lists them. */
export function problemsOf(alerts: readonly Alert[]): Problem[] {
  const latest = new Map<string, Problem>();
  const all: Problem[] = [];
  for (const alert of alerts.toReversed()) {
    const key = keyOf(alert);
    const known = latest.get(key);
    if (alert.type.endsWith(".recovered")) {
      // Its beginning is not among the last alerts: nothing is left to be said of it.
      if (!known || known.recoveredMs !== undefined) continue;
      known.recoveredMs = alert.at_ms;
      known.alerts += 1;
    } else if (known && !isAnother(known, alert)) {
      known.latest = alert;
      known.alerts += 1;
    } else {
      if (known) known.isSuperseded = true;
      const { type, subject } = alert;
      const [kind = ""] = type.split(".");
      const problem = {
        ...{ id: `${key} ${alert.at_ms}`, kind, subject, sinceMs: sinceOf(alert), latest: alert, alerts: 1 },
      };
      latest.set(key, problem);
      all.push(problem);
    }
  }
  return all.reverse();
}

const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** A text of the server with its moments as `clock` writes them. */
export const withLocalTimes = (text: string, clock: (ms: number) => string): string =>
  text.replaceAll(ISO, moment => clock(Date.parse(moment)));
