import { count, words } from "../lib/format";
import { Badge, Card } from "../ui/basics";

/** docs/design.md#guarantee-8 */
const DROPS: Record<string, string> = {
  deduped: "its id was emitted before (the component's dedupe)",
  "over-quota": "runs past the day's quota",
  truncated: "nothing is lost: the summary was cut to 1 KB",
  "no-listener": "without a subscription; errors and log lines count, too",
  filtered: "left out by the filter of a subscription",
  "dropped-by-function": "dropped by the function of a subscription",
  "listener-absent": "its listener was deleted or disabled",
  unsubscribed: "its subscription was ended since",
  "webhook-disabled": "for a disabled webhook",
  cancelled: "somebody cancelled its delivery",
  "payload-gone": "its data is no longer kept",
  loop: "passed 16 sources that listen to each other",
  "deploy-muted": "emitted by a hook of the deploy",
  "source-inactive": "runs of the inactive source",
  "timer-overlap": "ticks while an earlier one waited",
  "log-limit": "log lines of a run beyond its last 100",
  "queue-full": "too much was waiting",
  saturated: "too much was waiting for a workflow",
  invalid: "could not be handled; the log names it",
};

/** What did not go its way, by the reason, which is explained; nothing while there is none. */
export function Dropped({ dropped }: { dropped: Record<string, number> }) {
  const entries = Object.entries(dropped).filter(([, number]) => number > 0);
  if (entries.length === 0) return null;
  return (
    <Card title="Dropped on purpose">
      <dl class="facts">
        {entries.map(([reason, number]) => (
          <>
            <dt key={reason}>
              <Badge tone="warn">{words(reason)}</Badge>
            </dt>
            <dd>
              {count(number)} <span class="sub">{DROPS[reason]}</span>
            </dd>
          </>
        ))}
      </dl>
    </Card>
  );
}
