import { headwater, type Schemas } from "../api/client";
import { isWebhook } from "../api/listeners";
import type { ReadPage } from "../api/paged";
import { useResource } from "../api/resource";
import { to, useFilters } from "../lib/address";
import { LinkButton } from "../ui/basics";
import { List } from "../ui/list";
import { NothingYet } from "../ui/states";
import { StateFilter, wanted } from "./delivery-filters";
import { deliveryColumns } from "./delivery-parts";
import { useDeliverySelection } from "./delivery-selection";
import { subscribeCommand } from "./listener-health";
import { useLiveDeliveries } from "./live-deliveries";

const ROWS = 25;

/** The deliveries of one webhook or destination. */
export function ListenerDeliveries({ id }: { id: string }) {
  const filters = useFilters(["state"]);
  const { state, after, before } = filters.query;
  const read: ReadPage<Schemas["Delivery"]> = (cursor, call) =>
    headwater.deliveries.list({ webhook_id: id, ...wanted({ state }), ...cursor, expand: "preview" }, call);
  const resource = useResource(
    call => read({ limit: ROWS, after, before }, call),
    [id, state, after, before],
  );
  useLiveDeliveries(resource, !after && !before, one => one.webhook_id === id);
  const { dialog, ...selecting } = useDeliverySelection(resource.data?.data, resource.reload);
  return (
    <section class="card">
      <div class="card-head">
        <h2>Deliveries</h2>
        <StateFilter filters={filters} />
      </div>
      <List
        things="deliveries"
        resource={resource}
        read={read}
        filters={filters}
        empty={
          <NothingYet
            icon="send"
            title="Nothing was sent yet"
            command={subscribeCommand(id)}
            action={
              <LinkButton changes href={to("/subscriptions", { listener: id })}>
                Subscribe it
              </LinkButton>
            }
          >
            A {isWebhook(id) ? "webhook" : "destination"} receives the events of what it is subscribed to:
          </NothingYet>
        }
        columns={deliveryColumns({ hasWebhook: false })}
        {...selecting}
      />
      {dialog}
    </section>
  );
}
