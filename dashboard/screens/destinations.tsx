import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { useFresh } from "../api/fresh";
import { usePaged } from "../api/paged";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { Button } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Form, Select, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { BY_MOMENT, ListFilters } from "../ui/list-filters";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";
import type { Column } from "../ui/table";
import { ActionFields, useActionForm } from "./action-form";
import {
  DestinationFields,
  KIND_CHOICES,
  type Kind,
  labelOf,
  type StoredDestination,
  settingsOf,
  type Typed,
} from "./destination-fields";
import { WebhookBadge } from "./webhook-badge";
import { LAST_TIMES, RECEIVER_FILTERS, RECEIVER_STATES, receiverFilter } from "./webhook-parts";

/** What events go to besides webhooks: streams, queues, buckets, actions. */
export function Destinations() {
  const { filters, resource, read } = usePaged(
    (cursor, call, query) => inAccount().destinations.list({ ...cursor, ...receiverFilter(query) }, call),
    RECEIVER_FILTERS,
  );
  useFresh(resource);
  const create = (
    <Button changes kind="primary" icon="plus" onClick={() => filters.set({ new: "1" })}>
      New destination
    </Button>
  );
  return (
    <ListScreen
      title="Destinations"
      about="What else events go to: Redis streams, RabbitMQ, S3 buckets, and actions, which run your code for each event."
      actions={create}
      above={
        <ListFilters
          filters={filters}
          things="destinations"
          placeholder="Name, address or id"
          states={RECEIVER_STATES}
          orders={BY_MOMENT}
        />
      }
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet
          icon="database"
          title="No destinations yet"
          command={apiCommand("/destinations", { method: "POST", body: EXAMPLE })}
          action={create}
        >
          A destination gets events as a webhook does: retried until they arrive, in order if you like. This
          command makes one of a Redis stream:
        </NothingYet>
      }
      columns={COLUMNS}
    >
      {filters.query.new === "1" && <NewDestination onClose={() => filters.set({ new: undefined })} />}
    </ListScreen>
  );
}

const EXAMPLE = {
  name: "orders",
  redis_stream: { url: "rediss://redis.example.com:6380", stream: "orders" },
};

const COLUMNS: Column<StoredDestination>[] = [
  {
    head: "Destination",
    cell: row => (
      <>
        <a class="title" href={to(`/destinations/${row.id}`)}>
          {row.name || row.url}
        </a>
        <div class="sub">{row.name ? row.url : row.id}</div>
      </>
    ),
  },
  { head: "Kind", label: true, cell: row => labelOf(row.kind) },
  { head: "Health", cell: row => <WebhookBadge webhook={row} /> },
  ...LAST_TIMES,
];

function NewDestination({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const [kind, setKind] = useState<Kind>("redis_stream");
  const [name, setName] = useState("");
  const [typed, setTyped] = useState<Typed>({});
  const { fault, faultOf, send, forget } = useSending();
  const action = useActionForm(null);
  const create = () =>
    send(async () => {
      const isAction = kind === "action";
      const label = name || (isAction && action.component?.name);
      const settings = isAction ? action.settings() : settingsOf(kind, typed);
      const body = { [kind]: settings, ...(label && { name: label }) };
      const { id } = await inAccount().destinations.create(body);
      route(to(`/destinations/${id}`));
    });
  return (
    <Dialog title="New destination" onClose={onClose}>
      <Form onSend={create}>
        <FormFault
          fault={fault}
          isShown={path =>
            path === "name" || (kind === "action" ? action.isShown(path) : path.startsWith(`${kind}.`))
          }
        />
        <Select
          label="Kind"
          value={kind}
          choices={KIND_CHOICES}
          onChange={chosen => {
            setKind(chosen as Kind);
            forget();
          }}
        />
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          fault={faultOf("name")}
          hint={`Shown in lists; ${kind === "action" ? "the component's" : "the address"} if empty.`}
        />
        {kind === "action" ? (
          <ActionFields action={action} fault={fault} />
        ) : (
          <DestinationFields
            kind={kind}
            typed={typed}
            onChange={(field, text) => setTyped({ ...typed, [field]: text })}
            faultOf={faultOf}
            isNew
          />
        )}
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            kind="primary"
            isDisabled={kind === "action" && action.component === undefined}
          >
            Create destination
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
