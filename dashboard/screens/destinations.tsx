import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { messageOf } from "../api/client";
import { useFresh } from "../api/fresh";
import { useResource } from "../api/resource";
import { inAccount, orgId } from "../api/session";
import { to, useFilters } from "../lib/address";
import { Button, Card, Notice } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Select, TextField } from "../ui/form";
import { Loaded } from "../ui/states";
import { Table } from "../ui/table";
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
import { faultsOf } from "./listener-settings";
import { WebhookBadge } from "./webhook-parts";

/** The newest; more than these are shown by the API and the command line. */
const SHOWN = { limit: 100 };

/** What events go to besides webhooks: streams, queues, buckets, actions. */
export function Destinations() {
  const filters = useFilters([]);
  const resource = useResource(options => inAccount().destinations.list(SHOWN, options), [orgId.value]);
  useFresh(resource);
  return (
    <Card
      title="Destinations"
      isPadded={false}
      actions={
        <Button isSmall icon="plus" onClick={() => filters.set({ new: "destination" })}>
          New destination
        </Button>
      }
    >
      <Loaded resource={resource}>{({ data }) => <Rows rows={data} />}</Loaded>
      {filters.query.new === "destination" && (
        <NewDestination onClose={() => filters.set({ new: undefined })} />
      )}
    </Card>
  );
}

const Rows = ({ rows }: { rows: StoredDestination[] }) =>
  rows.length === 0 ? (
    <p class="card-body muted">
      Streams of Redis, queues of RabbitMQ, buckets and actions get events as webhooks do.
    </p>
  ) : (
    <Table heads={["Destination", "Kind", "Health"]} rows={rows}>
      {row => (
        <>
          <td>
            <a class="title" href={to(`/destinations/${row.id}`)}>
              {row.name || row.url}
            </a>
            <div class="sub">{row.name ? row.url : row.id}</div>
          </td>
          <td data-label="Kind">{labelOf(row.kind)}</td>
          <td>
            <WebhookBadge webhook={row} />
          </td>
        </>
      )}
    </Table>
  );

function NewDestination({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const [kind, setKind] = useState<Kind>("redis_stream");
  const [name, setName] = useState("");
  const [typed, setTyped] = useState<Typed>({});
  const [fault, setFault] = useState<unknown>();
  const action = useActionForm(null);
  const faultOf = faultsOf(fault);
  const create = async () => {
    setFault(undefined);
    try {
      const isAction = kind === "action";
      const label = name || (isAction && action.component?.name);
      const settings = isAction ? action.settings() : settingsOf(kind, typed);
      const body = { [kind]: settings, ...(label && { name: label }) };
      const { id } = await inAccount().destinations.create(body);
      route(to(`/destinations/${id}`));
    } catch (error) {
      setFault(error);
    }
  };
  return (
    <Dialog title="New destination" onClose={onClose}>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          void create();
        }}
      >
        {fault !== undefined && <Notice tone="bad">{messageOf(fault)}</Notice>}
        <Select
          label="Kind"
          value={kind}
          choices={KIND_CHOICES}
          onChange={chosen => {
            setKind(chosen as Kind);
            setFault(undefined);
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
          <DestinationFields kind={kind} typed={typed} onChange={setTyped} faultOf={faultOf} isNew />
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
      </form>
    </Dialog>
  );
}
