import { headwater } from "../api/client";
import { isWebhook } from "../api/listeners";
import { useResource } from "../api/resource";
import { to, useFilters } from "../lib/address";
import { LinkButton } from "../ui/basics";
import { List } from "../ui/list";
import { NothingYet } from "../ui/states";
import { StateFilter, wanted } from "./delivery-filters";
import { deliveryColumns } from "./delivery-parts";
import { subscribeCommand } from "./listener-health";
import { useLiveDeliveries } from "./live-deliveries";

/** The deliveries of one webhook or destination. */
export function ListenerDeliveries({ id }: { id: string }) {
  const filters = useFilters(["state"]);
  const { state, after, before } = filters.query;
  const resource = useResource(
    call => {
      const query = { webhook_id: id, ...wanted({ state }), after, before, limit: 25 };
      return headwater.deliveries.list(query, call);
    },
    [id, state, after, before],
  );
  useLiveDeliveries(resource, !after && !before, one => one.webhook_id === id);
  return (
    <section class="card">
      <div class="card-head">
        <h2>Deliveries</h2>
        <StateFilter filters={filters} />
      </div>
      <List
        resource={resource}
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
      />
    </section>
  );
}
