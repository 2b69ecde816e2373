import { useState } from "preact/hooks";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { to, useFilters } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { Button, LinkButton, Page } from "../ui/basics";
import { later } from "../ui/later";
import { List } from "../ui/list";
import { NothingYet } from "../ui/states";
import { DELIVERY_FILTERS, DeliveryFilters, wanted } from "./delivery-filters";
import { DeliveryTable } from "./delivery-parts";
import { useLiveDeliveries } from "./live-deliveries";

const ReplayDialog = later(async () => (await import("./more")).ReplayDialog);

export function Deliveries() {
  const filters = useFilters(DELIVERY_FILTERS);
  const { query } = filters;
  const { after, before } = query;
  const [isReplaying, setReplaying] = useState(false);
  const key = DELIVERY_FILTERS.map(name => query[name]).join("\0");
  const resource = useResource(
    call => inAccount().deliveries.list({ ...wanted(query), limit: 25, after, before }, call),
    [key, after, before],
  );
  useLiveDeliveries(resource, !after && !before);
  return (
    <Page
      title="Deliveries"
      about="Each event on its way to a webhook or a destination: what was sent, what came back, what is retried."
      actions={
        <Button icon="refresh" onClick={() => setReplaying(true)}>
          Replay these …
        </Button>
      }
    >
      <DeliveryFilters filters={filters} />
      <section class="card">
        <List
          resource={resource}
          filters={filters}
          empty={
            <NothingYet
              icon="send"
              title="Nothing was delivered yet"
              command={apiCommand("/subscriptions?emitter_id=dc_…&listener_id=wh_…", { method: "POST" })}
              action={
                <LinkButton href={to("/start")} kind="primary" icon="play">
                  Watch a first event
                </LinkButton>
              }
            >
              A delivery is made for each event that a subscription carries to a webhook. This command
              subscribes a webhook to a source:
            </NothingYet>
          }
        >
          {rows => <DeliveryTable rows={rows} />}
        </List>
      </section>
      {isReplaying && <ReplayDialog filter={wanted(query)} onClose={() => setReplaying(false)} />}
    </Page>
  );
}
