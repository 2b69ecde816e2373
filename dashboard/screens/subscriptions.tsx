import { useEffect, useState } from "preact/hooks";
import { headwater, type Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { useOwnAccount } from "../api/own-account";
import { usePaged } from "../api/paged";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { Button, LinkButton } from "../ui/basics";
import { ListFilters, sortOf } from "../ui/list-filters";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";
import { Thing } from "../ui/thing";
import { ThingField } from "../ui/thing-field";
import { toast } from "../ui/toasts";
import { AutoSubscriptionsCard } from "./auto-subscriptions";
import { DeleteSubscription } from "./delete-subscription";
import { hasDeliveries } from "./subscription";
import { CHANNEL, RULES } from "./subscription-columns";
import { SubscriptionEditor } from "./subscription-editor";

type Subscription = Schemas["Subscription"];

/** `emitter` and `listener` begin a new subscription; these narrow the list. */
const FILTERS = ["q", "emitter_id", "listener_id"];
const ORDERS = {
  emitter: "By emitter",
  listener: "By listener",
  last_error: "Last error of a function first",
};

/** The subscriptions of the account: make one, change its filter, or delete it. */
export function Subscriptions() {
  // `emitter` and `listener` begin a new subscription with these.
  const { filters, resource, read } = usePaged((cursor, call, query) => {
    const { q, emitter_id, listener_id, sort } = query;
    const wanted = {
      ...(q && { q }),
      ...(emitter_id && { emitter_id }),
      ...(listener_id && { listener_id }),
      ...sortOf(sort, ORDERS),
    };
    return inAccount().subscriptions.list({ ...cursor, ...wanted }, call);
  }, FILTERS);
  useFresh(resource);
  const { emitter, listener } = filters.query;
  const isNew = Boolean(filters.query.new ?? emitter ?? listener);
  const [deleted, setDeleted] = useState<Subscription | null>(null);
  const edited = useEdited(filters.query.edit, resource.data?.data);
  const close = () =>
    filters.set({ new: undefined, emitter: undefined, listener: undefined, edit: undefined });
  const create = (
    <Button changes kind="primary" icon="plus" onClick={() => filters.set({ new: "1" })}>
      New subscription
    </Button>
  );
  return (
    <ListScreen
      title="Subscriptions"
      about="Which events go where, and what a filter leaves out or a function changes."
      actions={create}
      above={
        <ListFilters
          filters={filters}
          things="subscriptions"
          placeholder="Name, address or id"
          orders={ORDERS}
        >
          <ThingField
            aria-label="Emitter"
            placeholder="Any emitter"
            kinds={["dc", "p"]}
            also={["dc_*", "p_*"]}
            value={filters.query.emitter_id ?? ""}
            onChange={id => filters.set({ emitter_id: id })}
          />
          <ThingField
            aria-label="Listener"
            placeholder="Any listener"
            kinds={["wh", "ds", "ac", "dc", "p"]}
            value={filters.query.listener_id ?? ""}
            onChange={id => filters.set({ listener_id: id })}
          />
        </ListFilters>
      }
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet
          icon="route"
          title="No subscriptions yet"
          command={apiCommand("/subscriptions?emitter_id=dc_…&listener_id=wh_…", { method: "POST" })}
          action={create}
        >
          A subscription carries the events of a source or workflow to a webhook, a destination, another
          source or a workflow:
        </NothingYet>
      }
      columns={[
        { head: "From", cell: row => <Thing id={row.emitter_id} name={row.emitter_name} /> },
        CHANNEL,
        { head: "To", label: "to", cell: row => <Thing id={row.listener_id} name={row.listener_name} /> },
        ...RULES,
        {
          head: "",
          cell: row => (
            <div class="row end">
              <Button changes isSmall onClick={() => filters.set({ edit: row.id })}>
                Filter
              </Button>
              {hasDeliveries(row) && (
                <LinkButton isSmall href={to(`/subscriptions/${row.id}`)}>
                  Function
                </LinkButton>
              )}
              <Button
                changes
                isSmall
                kind="ghost"
                icon="trash"
                label="Delete subscription"
                onClick={() => setDeleted(row)}
              />
            </div>
          ),
        },
      ]}
    >
      <AutoSubscriptionsCard />
      {(isNew || edited) && (
        <SubscriptionEditor
          key={edited?.id ?? "new"}
          subscription={edited}
          first={{ emitter: emitter ?? "", listener: listener ?? "" }}
          onClose={close}
          onSaved={() => {
            close();
            resource.reload();
          }}
        />
      )}
      {deleted && (
        <DeleteSubscription id={deleted.id} onClose={() => setDeleted(null)} onDeleted={resource.reload} />
      )}
    </ListScreen>
  );
}

/** The subscription that the address names: of the page, else read by its id. */
function useEdited(id: string | undefined, rows: Subscription[] | undefined): Subscription | undefined {
  const shown = rows?.find(one => one.id === id);
  const isElsewhere = id !== undefined && rows !== undefined && !shown;
  const found = useResource(
    async call => (isElsewhere ? await headwater.subscriptions.get(id, call) : undefined),
    [id, isElsewhere],
  );
  const { error } = found;
  useOwnAccount(found.data);
  useEffect(() => {
    if (error !== undefined) toast(`The subscription ${id} was not found.`, "bad");
  }, [error]);
  return shown ?? (found.data?.id === id ? found.data : undefined);
}
