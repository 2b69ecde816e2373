import { useState } from "preact/hooks";
import { ROWS, useFresh } from "../api/fresh";
import { callsOf, isWebhook, type Listener } from "../api/listeners";
import { type Resource, useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { apiCommand } from "../lib/curl";
import { count, counted, exactTime } from "../lib/format";
import { Button, Card, Notice, Time } from "../ui/basics";
import { useCountCheck } from "../ui/count-check";
import { Confirm } from "../ui/dialog";
import { Table } from "../ui/table";
import { toast } from "../ui/toasts";
import { deliveryColumns } from "./delivery-parts";
import { causeInWords, IssueActions, IssueState } from "./issue-parts";
import { StatsCharts } from "./stats";

/** A listener has no more causes than these, but for those that were resolved. */
const MOST_CAUSES = 100;

const at = (seconds: number): string => exactTime(seconds * 1000);

export const subscribeCommand = (id: string) =>
  apiCommand(`/subscriptions?emitter_id=dc_…&listener_id=${id}`, { method: "POST" });

interface HealthProps<One extends Listener> {
  listener: One;
  resource: Resource<One>;
}

/** Whether it works, what happened to its deliveries, and what to do after an outage. */
export function Health<One extends Listener>({ listener, resource }: HealthProps<One>) {
  const enable = async () => {
    const enabled: Listener = await callsOf(listener.id).update(listener.id, { active: true });
    resource.put(enabled as One);
    toast(`The ${isWebhook(listener.id) ? "webhook" : "destination"} is active again.`, "good");
  };
  return (
    <div class="stack">
      {!listener.active && (
        <Notice tone="bad">
          <div class="spread">
            <span>
              {listener.disabled_reason
                ? `It was disabled: ${listener.disabled_reason}.`
                : "It is disabled: nothing is sent, and its events count as dropped."}
            </span>
            <Button changes isSmall onClick={enable}>
              Enable
            </Button>
          </div>
        </Notice>
      )}
      {listener.active && listener.failing_since !== null && (
        <Notice tone="warn">
          {listener.notice ?? "Every attempt has failed."} Failing since {at(listener.failing_since)}
          {listener.will_be_disabled_at !== null &&
            `, will be disabled on ${at(listener.will_be_disabled_at)} unless one succeeds`}
          .
        </Notice>
      )}
      <Causes id={listener.id} />
      <LatestDeliveries id={listener.id} />
      <StatsCharts of={listener.id} kind="listener" command={subscribeCommand(listener.id)} />
      <Recover id={listener.id} />
    </div>
  );
}

/** Why deliveries to it fail: its issues that are not resolved, the last seen first. */
function Causes({ id }: { id: string }) {
  const resource = useResource(
    call => inAccount().issues.list({ listener_id: id, limit: MOST_CAUSES }, call),
    [id],
  );
  useFresh(resource, { of: id, on: ["deliveries"] });
  const issues = (resource.data?.data ?? [])
    .filter(({ state }) => state !== "resolved")
    .sort((a, b) => b.last_seen_ms - a.last_seen_ms);
  if (issues.length === 0) return null;
  return (
    <Card title="Why deliveries fail" isPadded={false}>
      <ul class="brief attention">
        {issues.map(issue => (
          <li key={issue.id}>
            <IssueState state={issue.state} />
            <span class="what">{causeInWords(issue.cause)}</span>
            <span class="reason">{issue.last_error}</span>
            <span class="sub nowrap">
              {counted(issue.count, "attempt")}, the last <Time ms={issue.last_seen_ms} />
            </span>
            <IssueActions issue={issue} onChange={resource.reload} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

const LATEST = 5;

/** What its last deliveries came to, each with its last attempt. */
function LatestDeliveries({ id }: { id: string }) {
  const resource = useResource(
    call => inAccount().deliveries.list({ webhook_id: id, limit: LATEST }, call),
    [id],
  );
  useFresh(resource, { of: id, on: ["deliveries"], pace: ROWS });
  const rows = resource.data?.data ?? [];
  if (rows.length === 0) return null;
  return (
    <Card title="Latest deliveries" isPadded={false}>
      <Table columns={deliveryColumns({ hasWebhook: false })} rows={rows} />
    </Card>
  );
}

const DAY_S = 86_400;

/** Sends what failed again, since a time; the count first. */
function Recover({ id }: { id: string }) {
  const [asked, setAsked] = useState<{ since: number; count: number } | null>(null);
  const check = useCountCheck(asked?.count ?? 0);
  const ask = async (days: number) => {
    const since = Math.floor(Date.now() / 1000) - days * DAY_S;
    const found = await callsOf(id).recover(id, { since, dry_run: true });
    if (found.count === 0) toast("No delivery has failed since then.");
    else setAsked({ since, count: found.count });
  };
  return (
    <Card title="After an outage">
      <div class="row">
        <span class="grow muted">
          Send every failed delivery again, at the pace of the {isWebhook(id) ? "webhook" : "destination"}.
        </span>
        <span class="row">
          {[1, 7, 30].map(days => (
            <Button changes key={days} isSmall onClick={() => ask(days)}>
              Last {days === 1 ? "24 hours" : `${days} days`}
            </Button>
          ))}
        </span>
      </div>
      {asked && (
        <Confirm
          title="Retry failed deliveries"
          action={`Retry ${count(asked.count)}`}
          isDisabled={!check.isDone}
          onClose={() => setAsked(null)}
          onConfirm={async () => {
            await callsOf(id).recover(id, { since: asked.since });
            toast("They are on their way.", "good");
          }}
        >
          <p>
            {asked.count === 1 ? "1 failed delivery is" : `${count(asked.count)} failed deliveries are`} sent
            again.
          </p>
          {check.field}
        </Confirm>
      )}
    </Card>
  );
}
