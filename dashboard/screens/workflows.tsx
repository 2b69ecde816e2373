import { useState } from "preact/hooks";
import { headwater, type Schemas } from "../api/client";
import { lossesOfWorkflow } from "../api/losses";
import { usePaged } from "../api/paged";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { Button, Copyable, LinkButton, Time } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Form, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { ListFilters } from "../ui/list-filters";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";
import { toast } from "../ui/toasts";
import { DeleteQuestion } from "./delete-question";

type Workflow = Schemas["Workflow"];

/** The workflows of the account, which programs publish as: make, rename and delete one. */
export function Workflows() {
  const { filters, resource, read } = usePaged(
    (cursor, call, { q }) => inAccount().workflows.list({ ...cursor, ...(q && { q }) }, call),
    ["q"],
  );
  /** What is named: a workflow, or a new one. */
  const [named, setNamed] = useState<Workflow | "new" | null>(null);
  const [deleted, setDeleted] = useState<Workflow | null>(null);
  const create = (
    <Button changes kind="primary" icon="plus" onClick={() => setNamed("new")}>
      New workflow
    </Button>
  );
  return (
    <ListScreen
      title="Workflows"
      about="Programs of yours publish events as a workflow, and an engine of yours runs it with the events of others."
      actions={create}
      above={<ListFilters filters={filters} things="workflows" placeholder="Name or id" />}
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet
          icon="code"
          title="No workflows yet"
          command={apiCommand("/workflows", { method: "POST", body: { name: "orders" } })}
          action={create}
        >
          A program that is not a component publishes events as a workflow. This command makes one:
        </NothingYet>
      }
      columns={[
        {
          head: "Workflow",
          cell: row => (
            <>
              <span class="title">{row.name}</span>
              <div class="sub">
                <Copyable text={row.id} label="id" />
              </div>
            </>
          ),
        },
        { head: "Created", label: true, cell: row => <Time seconds={row.created_at} /> },
        {
          head: "",
          cell: row => (
            <div class="row end">
              <LinkButton isSmall href={to("/deliveries", { emitter_id: row.id })}>
                Deliveries
              </LinkButton>
              <LinkButton isSmall href={to("/subscriptions", { emitter_id: row.id })}>
                Subscriptions
              </LinkButton>
              <Button changes isSmall onClick={() => setNamed(row)}>
                Rename
              </Button>
              <Button
                changes
                isSmall
                kind="ghost"
                icon="trash"
                label={`Delete ${row.name}`}
                onClick={() => setDeleted(row)}
              />
            </div>
          ),
        },
      ]}
    >
      {named && (
        <NameDialog
          workflow={named === "new" ? null : named}
          onClose={() => setNamed(null)}
          onSaved={() => {
            setNamed(null);
            resource.reload();
          }}
        />
      )}
      {deleted && (
        <DeleteQuestion
          title={`Delete ${deleted.name}?`}
          losses={call => lossesOfWorkflow(deleted.id, call)}
          onClose={() => setDeleted(null)}
          onConfirm={async () => {
            await headwater.workflows.delete(deleted.id);
            toast(`${deleted.name} is deleted.`, "good");
            resource.reload();
          }}
        >
          What is on its way to a webhook arrives; what is published and not handled yet is dropped. A new
          workflow has another id.
        </DeleteQuestion>
      )}
    </ListScreen>
  );
}

interface NameDialogProps {
  /** Null for a new one. */
  workflow: Workflow | null;
  onClose: () => void;
  onSaved: () => void;
}

function NameDialog({ workflow, onClose, onSaved }: NameDialogProps) {
  const [name, setName] = useState(workflow?.name ?? "");
  const { fault, faultOf, send } = useSending();
  const save = () =>
    send(async () => {
      if (workflow) await headwater.workflows.update(workflow.id, { name });
      else await inAccount().workflows.create({ name });
      onSaved();
    });
  return (
    <Dialog title={workflow ? `Rename ${workflow.name}` : "New workflow"} onClose={onClose}>
      <Form onSend={save}>
        <FormFault fault={fault} isShown={path => path === "name"} />
        <TextField label="Name" value={name} onInput={setName} fault={faultOf("name")} isRequired />
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary">
            Save
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
