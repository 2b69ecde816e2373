import { type DayOfUsage, readDailyUsage } from "../api/calls";
import { useFresh } from "../api/fresh";
import { useResource } from "../api/resource";
import { loadMe, me } from "../api/session";
import { bytes, count, duration, words } from "../lib/format";
import { orgId } from "../lib/shown-account";
import { Bars } from "../ui/bars";
import { Card, Page } from "../ui/basics";
import { Loaded, Loading } from "../ui/states";
import { Tile } from "../ui/tile";

/** What the account has used day by day, and of its limits. */
export function Usage() {
  const org = orgId.value;
  const days = useResource(call => readDailyUsage(org, call), [org]);
  const reload = () => {
    days.reload();
    // What is used of the limits is read with the user.
    loadMe().catch(() => undefined);
  };
  useFresh({ ...days, reload });
  const user = me.value;
  const limits = Object.entries(user?.limits ?? {}).filter(([name]) => user?.usage[name] !== undefined);
  return (
    <Page title="Usage" about="What was used of what this account may have. A day begins at midnight UTC.">
      <Loaded resource={days}>{rows => <Days rows={rows} />}</Loaded>
      {!orgId.value && (
        <Card title="Limits of your plan">
          {user === null && <Loading />}
          <ul class="limits">
            {limits.map(([name, limit]) => (
              <Limit key={name} name={name} used={user?.usage[name] ?? 0} limit={limit} />
            ))}
            {user?.daily_invocations_quota !== undefined && (
              <Limit
                name="runs today"
                used={user.daily_invocations_used ?? 0}
                limit={user.daily_invocations_quota}
              />
            )}
            {user?.daily_compute_time_quota !== undefined && (
              <Limit
                name="compute time today"
                used={user.daily_compute_time_used ?? 0}
                limit={user.daily_compute_time_quota}
              />
            )}
          </ul>
        </Card>
      )}
    </Page>
  );
}

function Days({ rows }: { rows: DayOfUsage[] }) {
  const oldestFirst = [...rows].reverse();
  const today = rows[0];
  const chart = (field: "invocations" | "compute_ms" | "published") => oldestFirst.map(row => row[field]);
  return (
    <>
      <div class="tiles">
        <Tile label="Runs today" value={count(today?.invocations ?? 0)} />
        <Tile label="Compute time today" value={duration(today?.compute_ms ?? 0)} />
        <Tile label="Published today" value={count(today?.published ?? 0)} />
      </div>
      <Card title="Last 30 days">
        <div class="columns three">
          <figure>
            <figcaption class="muted">Runs</figcaption>
            <Bars values={chart("invocations")} label="Runs per day" />
          </figure>
          <figure>
            <figcaption class="muted">Compute time</figcaption>
            <Bars values={chart("compute_ms")} label="Compute time per day" tone="info" />
          </figure>
          <figure>
            <figcaption class="muted">Published</figcaption>
            <Bars values={chart("published")} label="Published events per day" />
          </figure>
        </div>
      </Card>
    </>
  );
}

/** Where the name alone does not say what is counted (docs/limits.md). */
const LIMIT_NAMES: Record<string, string> = {
  sub_minute_timers: "Timers under a minute",
  webhooks: "Webhooks and destinations",
  queued_bytes: "Waiting runs",
  emission_bytes: "Waiting emitted events",
  workflow_events: "Waiting for workflows",
  workflow_event_bytes: "Size of those events",
  published_events: "Events published today",
};

function Limit({ name, used, limit }: { name: string; used: number; limit: number }) {
  const share = limit === 0 ? 0 : used / limit;
  const tone = share >= 1 ? "bad" : share > 0.8 ? "warn" : "";
  const shown = name.includes("bytes") ? bytes : name.includes("compute") ? duration : count;
  return (
    <li>
      <div class="spread">
        <span>{LIMIT_NAMES[name] ?? words(name)}</span>
        <span class="muted">
          {shown(used)} of {shown(limit)}
        </span>
      </div>
      <div class={`meter ${tone}`}>
        <div style={{ width: `${Math.min(100, 100 * share)}%` }} />
      </div>
    </li>
  );
}
