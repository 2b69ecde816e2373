import { useState } from "preact/hooks";
import { createAutoSubscription, deleteAutoSubscription, listAutoSubscriptions } from "../api/calls";
import type { Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { count } from "../lib/format";
import { orgId } from "../lib/shown-account";
import { Button, Card } from "../ui/basics";
import { Confirm, Dialog } from "../ui/dialog";
import { Field, Form, Select } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { Loaded } from "../ui/states";
import { Table } from "../ui/table";
import { Thing } from "../ui/thing";
import { ThingField } from "../ui/thing-field";
import { toast } from "../ui/toasts";

type AutoSubscription = Schemas["AutoSubscription"];
type Channel = "$errors" | "$logs";

/** What subscribes a listener to each source and workflow that is made from now on. */
export function AutoSubscriptionsCard() {
  const org = orgId.value;
  const resource = useResource(call => listAutoSubscriptions(org, call), [org]);
  const [isNew, setNew] = useState(false);
  const [deleted, setDeleted] = useState<AutoSubscription | null>(null);
  return (
    <Card
      title="Auto subscriptions"
      isPadded={false}
      actions={
        <Button changes isSmall icon="plus" onClick={() => setNew(true)}>
          Add
        </Button>
      }
    >
      <Loaded resource={resource} lines={2}>
        {({ data, page_info }) =>
          data.length === 0 ? (
            <p class="card-body muted">
              One of these subscribes a listener to the errors or the logs of each source and workflow that is
              made from then on.
            </p>
          ) : (
            <>
              <Table
                rows={data}
                columns={[
                  { head: "Channel", cell: row => <code>{row.event_name}</code> },
                  { head: "To", label: "to", cell: row => <Thing id={row.listener_id} /> },
                  {
                    head: "",
                    cell: row => (
                      <div class="row end">
                        <Button
                          changes
                          isSmall
                          kind="ghost"
                          icon="trash"
                          label="Delete auto subscription"
                          onClick={() => setDeleted(row)}
                        />
                      </div>
                    ),
                  },
                ]}
              />
              {page_info.total_count > data.length && (
                <p class="card-body muted">
                  The newest {data.length} of {count(page_info.total_count)}.
                </p>
              )}
            </>
          )
        }
      </Loaded>
      {isNew && (
        <NewAutoSubscription
          onClose={() => setNew(false)}
          onMade={() => {
            setNew(false);
            resource.reload();
          }}
        />
      )}
      {deleted && (
        <Confirm
          title="Delete this auto subscription?"
          action="Delete"
          onClose={() => setDeleted(null)}
          onConfirm={async () => {
            await deleteAutoSubscription(deleted.id);
            toast("The auto subscription is deleted.", "good");
            resource.reload();
          }}
        >
          <p>
            Sources and workflows that are made from then on get none by it; the subscriptions that it has
            made stay.
          </p>
        </Confirm>
      )}
    </Card>
  );
}

const CHANNELS: { value: Channel; label: string }[] = [
  { value: "$errors", label: "$errors" },
  { value: "$logs", label: "$logs" },
];

function NewAutoSubscription({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [channel, setChannel] = useState<Channel>("$errors");
  const [listener, setListener] = useState("");
  const { fault, faultOf, send } = useSending();
  const create = () =>
    send(async () => {
      await createAutoSubscription({ event_name: channel, listener_id: listener });
      toast("Saved.", "good");
      onMade();
    });
  return (
    <Dialog title="New auto subscription" onClose={onClose}>
      <Form onSend={create}>
        <FormFault fault={fault} isShown={path => path === "listener_id"} />
        <Select
          label="Channel"
          value={channel}
          choices={CHANNELS}
          onChange={value => setChannel(value as Channel)}
        />
        <Field
          label="To"
          hint="A webhook, a destination, a source or a workflow."
          fault={faultOf("listener_id")}
        >
          {props => (
            <ThingField
              {...props}
              kinds={["wh", "ds", "ac", "dc", "p"]}
              value={listener}
              onChange={setListener}
            />
          )}
        </Field>
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isDisabled={listener === ""}>
            Save
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
