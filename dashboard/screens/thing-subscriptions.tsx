import { useState } from "preact/hooks";
import type { Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { count } from "../lib/format";
import { Button, Card, LinkButton } from "../ui/basics";
import { Loaded } from "../ui/states";
import { Table } from "../ui/table";
import { Thing } from "../ui/thing";
import { DeleteSubscription } from "./delete-subscription";
import { CHANNEL, RULES } from "./subscription-columns";

type Subscription = Schemas["Subscription"];

const SHOWN = 50;

interface ThingSubscriptionsProps {
  id: string;
  /** What the thing is in them. */
  as: "emitter" | "listener";
}

/** The subscriptions that name a source or a listener, the newest first: what it is connected to, with add and end. */
export function ThingSubscriptions({ id, as }: ThingSubscriptionsProps) {
  const filter = as === "emitter" ? { emitter_id: id } : { listener_id: id };
  const resource = useResource(
    call => inAccount().subscriptions.list({ ...filter, limit: SHOWN }, call),
    [id, as],
  );
  useFresh(resource);
  const [ended, setEnded] = useState<Subscription | null>(null);
  return (
    <Card
      title="Subscriptions"
      isPadded={false}
      actions={
        <>
          <LinkButton isSmall icon="share" href={to("/map", { node: id })}>
            Map
          </LinkButton>
          <LinkButton changes isSmall icon="plus" href={to("/subscriptions", { [as]: id })}>
            Add
          </LinkButton>
        </>
      }
    >
      <Loaded resource={resource}>
        {({ data, page_info }) =>
          data.length === 0 ? (
            <p class="card-body muted">
              {as === "emitter"
                ? "No subscription names it; those of all sources are among all subscriptions."
                : "Nothing is sent here: no subscription names it."}
            </p>
          ) : (
            <>
              <Table
                rows={data}
                columns={[
                  as === "emitter"
                    ? { head: "To", cell: row => <Thing id={row.listener_id} name={row.listener_name} /> }
                    : { head: "From", cell: row => <Thing id={row.emitter_id} name={row.emitter_name} /> },
                  CHANNEL,
                  ...RULES,
                  {
                    head: "",
                    cell: row => (
                      <div class="row end">
                        <LinkButton changes isSmall href={to("/subscriptions", { edit: row.id })}>
                          Filter
                        </LinkButton>
                        <Button
                          changes
                          isSmall
                          kind="ghost"
                          icon="trash"
                          label="Delete subscription"
                          onClick={() => setEnded(row)}
                        />
                      </div>
                    ),
                  },
                ]}
              />
              {page_info.total_count > data.length && (
                <p class="card-body">
                  <a href={to("/subscriptions", filter)}>All {count(page_info.total_count)}</a>
                </p>
              )}
            </>
          )
        }
      </Loaded>
      {ended && (
        <DeleteSubscription id={ended.id} onClose={() => setEnded(null)} onDeleted={resource.reload} />
      )}
    </Card>
  );
}
