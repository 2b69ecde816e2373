import { useState } from "preact/hooks";
import type { Schemas } from "../api/client";
import type { ReadPage } from "../api/paged";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { to, useFilters } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { Button, LinkButton } from "../ui/basics";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";
import { DELIVERY_FILTERS, DeliveryFilters, wanted } from "./delivery-filters";
import { deliveryColumns } from "./delivery-parts";
import { useDeliverySelection } from "./delivery-selection";
import { useLiveDeliveries } from "./live-deliveries";
import { ReplayDialog } from "./replay-dialog";

const ROWS = 50;

/** The deliveries of the account as they move, narrowed by filters; what is shown can be sent again. */
export function Deliveries() {
  const filters = useFilters(DELIVERY_FILTERS);
  const { query } = filters;
  const { after, before } = query;
  const [isReplaying, setReplaying] = useState(false);
  const key = DELIVERY_FILTERS.map(name => query[name]).join("\0");
  const read: ReadPage<Schemas["Delivery"]> = (cursor, call) =>
    inAccount().deliveries.list({ ...wanted(query), ...cursor, expand: "preview" }, call);
  const resource = useResource(call => read({ limit: ROWS, after, before }, call), [key, after, before]);
  useLiveDeliveries(resource, !after && !before);
  const { dialog, ...selecting } = useDeliverySelection(resource.data?.data, resource.reload);
  return (
    <ListScreen
      title="Deliveries"
      about="Each event on its way to a webhook or a destination: what was sent, what came back, what is retried."
      actions={
        <>
          <LinkButton href={to("/replays")}>Past replays</LinkButton>
          <Button changes icon="refresh" onClick={() => setReplaying(true)}>
            Replay these …
          </Button>
        </>
      }
      above={<DeliveryFilters filters={filters} />}
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet
          icon="send"
          title="Nothing was delivered yet"
          command={apiCommand("/subscriptions?emitter_id=dc_…&listener_id=wh_…", { method: "POST" })}
          action={
            <LinkButton changes href={to("/start")} kind="primary" icon="play">
              Watch a first event
            </LinkButton>
          }
        >
          A delivery is made for each event that a subscription carries to a webhook. This command subscribes
          a webhook to a source:
        </NothingYet>
      }
      columns={deliveryColumns()}
      {...selecting}
    >
      {dialog}
      {isReplaying && <ReplayDialog filter={wanted(query)} onClose={() => setReplaying(false)} />}
    </ListScreen>
  );
}
