import type { ComponentChildren } from "preact";
import type { Schemas } from "../api/client";
import { callsOf, isAgents } from "../api/listeners";
import type { Resource } from "../api/resource";
import { to } from "../lib/address";
import { count, counted, words } from "../lib/format";
import { Badge, Button, LinkButton, Time, type Tone } from "../ui/basics";
import { Icon } from "../ui/icon";
import { Loaded } from "../ui/states";
import { Thing } from "../ui/thing";
import { toast } from "../ui/toasts";
import { affectedBy, causeInWords } from "./issue-parts";

type Attention = Schemas["Attention"];
type Cause = Attention["failing"][number]["causes"][number];

/** One thing that needs somebody: what it is, since when, why, and what to do. */
interface Line {
  key: string;
  tone: Tone;
  state: string;
  what: ComponentChildren;
  since: number | null;
  why: ComponentChildren;
  action: ComponentChildren;
}

const whyOf = ([first, ...others]: Cause[], otherwise: string): ComponentChildren =>
  first ? (
    <>
      <strong>{causeInWords(first.cause)}</strong> {first.last_error}
      {others.length > 0 && `, and ${counted(others.length, "other cause")}`}
    </>
  ) : (
    otherwise
  );

/** Everything once: an issue of a listener that is listed above it is told there. */
function linesOf(attention: Attention, reload: () => void): Line[] {
  const { disabled, failing, issues, sources, connections, quotas } = attention;
  const told = new Set([...disabled, ...failing].map(({ id }) => id));
  const enable = async (id: string) => {
    await callsOf(id).update(id, { active: true });
    toast("It is active again.", "good");
    reload();
  };
  return [
    ...disabled.map(
      ({ id, name, since_ms, reason, causes }): Line => ({
        ...{ key: id, tone: "bad", state: "Disabled", since: since_ms, why: whyOf(causes, reason) },
        what: <Thing id={id} name={name} />,
        // An agent enables its own, by its next refresh.
        action: isAgents(id) ? (
          <LinkButton isSmall href={to(`/agents/${id}`)}>
            Show
          </LinkButton>
        ) : (
          <Button changes isSmall onClick={() => enable(id)}>
            Enable
          </Button>
        ),
      }),
    ),
    ...failing.map(
      ({ id, name, since_ms, causes }): Line => ({
        ...{ key: id, tone: "bad", state: "Failing", since: since_ms },
        what: <Thing id={id} name={name} />,
        why: whyOf(causes, "Every attempt fails."),
        action: (
          <LinkButton isSmall href={to("/issues", { listener_id: id })}>
            Causes
          </LinkButton>
        ),
      }),
    ),
    ...issues
      .filter(({ listener_id }) => !told.has(listener_id))
      .map(
        ({ id, listener_id, listener_name, opened_at_ms, cause, last_error, count: attempts }): Line => ({
          ...{ key: id, tone: "warn", state: "Some fail", since: opened_at_ms },
          what: <Thing id={listener_id} name={listener_name} />,
          why: (
            <>
              <strong>{causeInWords(cause)}</strong> {last_error} ({counted(attempts, "attempt")})
            </>
          ),
          action: (
            <LinkButton isSmall href={affectedBy(id)}>
              Deliveries
            </LinkButton>
          ),
        }),
      ),
    ...sources.map(
      ({ id, name, since_ms, failed_runs, code }): Line => ({
        ...{ key: id, tone: "bad", state: "Runs fail", since: since_ms },
        what: <Thing id={id} name={name} />,
        why: (
          <>
            <strong>{code ?? "Error"}</strong> {counted(failed_runs, "run")} one after another
          </>
        ),
        action: (
          <LinkButton isSmall href={to(`/sources/${id}/runs`, { outcome: "error" })}>
            Runs
          </LinkButton>
        ),
      }),
    ),
    ...connections.map(
      ({ id, name, health, since_ms, code, message }): Line => ({
        ...{ key: id, tone: health === "broken" ? "bad" : "warn", state: words(health), since: since_ms },
        what: <a href={to("/connections")}>{name}</a>,
        why: message ?? code ?? "It can't be renewed.",
        action: (
          <LinkButton isSmall href={to("/connections")}>
            Reconnect
          </LinkButton>
        ),
      }),
    ),
    ...quotas.map(
      ({ quota, used, most, percent }): Line => ({
        ...{ key: quota, tone: percent >= 100 ? "bad" : "warn", state: `${percent} %`, since: null },
        what: words(quota),
        why: `${count(used)} of ${count(most)} are used`,
        action: (
          <LinkButton isSmall href={to("/usage")}>
            Usage
          </LinkButton>
        ),
      }),
    ),
  ];
}

/** How many more webhooks and destinations fail or are disabled than the lines name. */
const unnamed = ({ needs, disabled, failing }: Attention): number =>
  needs.disabled - disabled.length + needs.failing - failing.length;

/** What needs somebody of the account now, first on the overview. */
export const NeedsAttention = ({ resource }: { resource: Resource<Attention> }) => (
  <Loaded resource={resource} lines={2}>
    {attention => {
      const lines = linesOf(attention, resource.reload);
      const { retries, needs } = attention;
      if (lines.length === 0 && retries.count === 0) {
        return (
          <p class="all-well">
            <Icon name="check" /> Nothing needs you now.
          </p>
        );
      }
      return (
        <section class="card attention">
          <div class="card-head">
            <h2>Needs attention</h2>
            <a href={to("/issues", { state: "open" })}>{counted(needs.issues, "open issue")}</a>
          </div>
          <ul class="brief">
            {lines.map(({ key, tone, state, what, since, why, action }) => (
              <li key={key}>
                <Badge tone={tone}>{state}</Badge>
                <span class="what">{what}</span>
                <span class="reason">{why}</span>
                {since !== null && (
                  <span class="sub nowrap">
                    since <Time ms={since} />
                  </span>
                )}
                {action}
              </li>
            ))}
            {unnamed(attention) > 0 && (
              <li key="more">
                <Badge tone="bad">More</Badge>
                <span class="what">and {counted(unnamed(attention), "other")}, failing or disabled</span>
                <LinkButton isSmall href={to("/webhooks", { state: "failing" })}>
                  Webhooks
                </LinkButton>
              </li>
            )}
            {retries.count > 0 && (
              <li key="retries">
                <Badge tone="info">Waiting</Badge>
                <span class="what">
                  {counted(retries.count, "delivery waits", "deliveries wait")} for a retry
                </span>
                <span class="reason">
                  {retries.oldest && (
                    <>
                      the oldest to{" "}
                      <Thing id={retries.oldest.listener_id} name={retries.oldest.listener_name} />
                    </>
                  )}
                </span>
                {retries.oldest && (
                  <span class="sub nowrap">
                    since <Time ms={retries.oldest.since_ms} />
                  </span>
                )}
                <LinkButton isSmall href={to("/queues")}>
                  Queues
                </LinkButton>
              </li>
            )}
          </ul>
        </section>
      );
    }}
  </Loaded>
);
