import { useAttention } from "../api/attention";
import { readStats } from "../api/calls";
import { useFresh } from "../api/fresh";
import { useResource } from "../api/resource";
import { inAccount, me, orgName } from "../api/session";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { count, successRate } from "../lib/format";
import { triggerOf } from "../lib/interfaces";
import { orgId } from "../lib/shown-account";
import { Bars } from "../ui/bars";
import { LinkButton, Page, Time } from "../ui/basics";
import { later } from "../ui/later";
import { Loaded, Loading, NothingYet } from "../ui/states";
import { Table } from "../ui/table";
import { Tile } from "../ui/tile";
import { deliveryColumns } from "./delivery-parts";
import { HourChart } from "./hour-chart";
import { useLiveDeliveries } from "./live-deliveries";
import { FIRST_SOURCE, SourceBadge } from "./source-parts";
import { WebhookBadge } from "./webhook-badge";

const NeedsAttention = later(async () => (await import("./more")).NeedsAttention);

const HOURS = 24;

export function Overview() {
  const attention = useAttention();
  const stats = useResource(call => readStats("", { hours: HOURS }, call), []);
  const sources = useResource(call => inAccount().sources.list({ limit: 5 }, call), []);
  const webhooks = useResource(call => inAccount().webhooks.list({ limit: 5 }, call), []);
  const deliveries = useResource(call => inAccount().deliveries.list({ limit: 8 }, call), []);
  useLiveDeliveries(deliveries, true);
  useFresh(stats);
  useFresh(sources);
  useFresh(webhooks);
  const isNew = sources.data?.page_info.total_count === 0;
  // All at once: what came first would be moved by what comes above it.
  const isKnown = [attention, stats, sources, webhooks, deliveries].every(({ data, error }) => data || error);
  return (
    <Page
      title={
        orgId.value ? (orgName.value ?? "Overview") : me.value ? `Hello, ${me.value.username}` : "Overview"
      }
      about="The last 24 hours of this account."
      actions={
        <>
          {isNew && (
            <LinkButton changes href={to("/start")} icon="play">
              Watch a first event
            </LinkButton>
          )}
          <LinkButton changes href={to("/gallery")} kind="primary" icon="plus">
            New source
          </LinkButton>
        </>
      }
    >
      {isKnown ? (
        <>
          {isNew && (
            <section class="card hero">
              <NothingYet
                icon="zap"
                title="From nothing to a watched event in a minute"
                command={apiCommand("/sources", { method: "POST", body: FIRST_SOURCE })}
                action={
                  <LinkButton changes href={to("/start")} kind="primary" icon="play">
                    Start
                  </LinkButton>
                }
              >
                One click makes a source, a receiver that shows what arrives, and a subscription between the
                two. Then send a request and watch where it goes. This command makes a source alone:
              </NothingYet>
            </section>
          )}
          {!isNew && <NeedsAttention resource={attention} />}
          <Loaded resource={stats} lines={3}>
            {({ hours, total }) => (
              <>
                <div class="tiles">
                  <Tile label="Emitted" value={count(total.emitted)}>
                    <Bars values={hours.map(one => one.emitted)} tone="info" label="Emitted per hour" />
                  </Tile>
                  <Tile label="Delivered" value={count(total.delivered)}>
                    <Bars values={hours.map(one => one.delivered)} tone="accent" label="Delivered per hour" />
                  </Tile>
                  <Tile label="Failed" value={count(total.failed)}>
                    <Bars values={hours.map(one => one.failed)} tone="bad" label="Failed per hour" />
                  </Tile>
                  <Tile label="Success" value={successRate(total)} note={`${count(total.retried)} retries`} />
                </div>
                {total.emitted + total.attempts > 0 && <HourChart rows={hours} />}
              </>
            )}
          </Loaded>
          <div class="columns wide-left">
            <section class="card slim">
              <div class="card-head">
                <h2>Latest deliveries</h2>
                <a href={to("/deliveries")}>All deliveries</a>
              </div>
              <Loaded resource={deliveries}>
                {page =>
                  page.data.length > 0 ? (
                    <Table columns={deliveryColumns()} rows={page.data} />
                  ) : (
                    <p class="card-body muted">Nothing was delivered yet.</p>
                  )
                }
              </Loaded>
            </section>
            <div class="stack">
              <section class="card">
                <div class="card-head">
                  <h2>Sources</h2>
                  <a href={to("/sources")}>All sources</a>
                </div>
                <Loaded resource={sources}>
                  {page => (
                    <ul class="brief">
                      {page.data.map(one => (
                        <li key={one.id}>
                          <a href={to(`/sources/${one.id}`)}>{one.name}</a>
                          <span class="sub">{triggerOf(one.configured_props)}</span>
                          <SourceBadge source={one} />
                        </li>
                      ))}
                      {page.data.length === 0 && <li class="muted">No sources yet.</li>}
                    </ul>
                  )}
                </Loaded>
              </section>
              <section class="card">
                <div class="card-head">
                  <h2>Webhooks</h2>
                  <a href={to("/webhooks")}>All webhooks</a>
                </div>
                <Loaded resource={webhooks}>
                  {page => (
                    <ul class="brief">
                      {page.data.map(one => (
                        <li key={one.id}>
                          <a href={to(`/webhooks/${one.id}`)}>{one.name || one.url}</a>
                          {one.failing_since !== null && (
                            <span class="sub">
                              <Time seconds={one.failing_since} />
                            </span>
                          )}
                          <WebhookBadge webhook={one} />
                        </li>
                      ))}
                      {page.data.length === 0 && <li class="muted">No webhooks yet.</li>}
                    </ul>
                  )}
                </Loaded>
              </section>
            </div>
          </div>
        </>
      ) : (
        <Loading lines={8} />
      )}
    </Page>
  );
}
