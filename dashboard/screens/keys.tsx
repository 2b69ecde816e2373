import { useState } from "preact/hooks";
import { createKey, listKeys, listSessions, revokeKey } from "../api/calls";
import type { Schemas } from "../api/client";
import { usePaged } from "../api/paged";
import { useResource } from "../api/resource";
import { apiCommand } from "../lib/curl";
import { Badge, Button, CopyBlock, Notice, Time } from "../ui/basics";
import { Confirm, Dialog } from "../ui/dialog";
import { Form, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";

/** The keys of the user: make one, which is shown once, or revoke one. */
export function Keys() {
  const { filters, resource, read } = usePaged(listKeys);
  const sessions = useResource(call => listSessions({ limit: 100 }, call), []);
  const currentKey = sessions.data?.data.find(one => one.current)?.key_id;
  const [isNew, setNew] = useState(false);
  const [revoked, setRevoked] = useState<Schemas["ApiKey"] | null>(null);
  return (
    <ListScreen
      title="API keys"
      about="What programs sign in with. A key can do everything that you can."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
          New key
        </Button>
      }
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet
          icon="key"
          title="No keys"
          command={apiCommand("/api_keys", { method: "POST", body: { name: "laptop" } })}
        >
          A program needs a key:
        </NothingYet>
      }
      columns={[
        {
          head: "Key",
          cell: row => (
            <>
              <span class="title">{row.name || "Without a name"}</span>
              <div class="sub mono">{row.prefix ? `${row.prefix}…` : row.id}</div>
            </>
          ),
        },
        {
          head: "State",
          cell: row => (
            <>
              <Badge tone={row.revoked_at === null ? "good" : "none"}>
                {row.revoked_at === null ? "Valid" : "Revoked"}
              </Badge>{" "}
              {row.id === currentKey && <Badge tone="accent">This session</Badge>}{" "}
              {row.ends_with_provider && <Badge tone="none">Ends with your provider sign-in</Badge>}
            </>
          ),
        },
        {
          head: "Last use",
          label: true,
          cell: row =>
            row.last_used_at === null ? (
              <span class="muted">never</span>
            ) : (
              <Time seconds={row.last_used_at} />
            ),
        },
        { head: "Created", label: true, cell: row => <Time seconds={row.created_at} /> },
        {
          head: "",
          cell: row =>
            row.revoked_at === null && (
              <div class="row end">
                <Button isSmall kind="danger" onClick={() => setRevoked(row)}>
                  Revoke
                </Button>
              </div>
            ),
        },
      ]}
    >
      {isNew && (
        <NewKey
          onClose={() => {
            setNew(false);
            resource.reload();
          }}
        />
      )}
      {revoked && (
        <Confirm
          title={`Revoke ${revoked.name || revoked.prefix || "this key"}?`}
          action="Revoke"
          onClose={() => setRevoked(null)}
          onConfirm={async () => {
            await revokeKey(revoked.id);
            resource.reload();
          }}
        >
          <p>
            It can't be brought back: programs that use it get 401 from now on, and sessions that began with
            it end.
          </p>
          {revoked.id === currentKey && (
            <Notice tone="warn">It is the key of this session: you will be signed out.</Notice>
          )}
        </Confirm>
      )}
    </ListScreen>
  );
}

function NewKey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [key, setKey] = useState("");
  const { fault, faultOf, send } = useSending();
  const create = () =>
    send(async () => {
      setKey((await createKey(name)).api_key);
    });
  return (
    <Dialog hasSecret={key !== ""} title={key ? "Keep this key" : "New API key"} onClose={onClose}>
      {key ? (
        <>
          <Notice tone="warn">It is shown only now.</Notice>
          <CopyBlock text={key} label="API key" />
          <div class="row end">
            <Button kind="primary" onClick={onClose}>
              I have kept it
            </Button>
          </div>
        </>
      ) : (
        <Form onSend={create}>
          <FormFault fault={fault} isShown={path => path === "name"} />
          <TextField
            label="Name"
            value={name}
            onInput={setName}
            fault={faultOf("name")}
            hint="What it is for, such as a laptop or a server."
          />
          <div class="row end">
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" kind="primary">
              Create key
            </Button>
          </div>
        </Form>
      )}
    </Dialog>
  );
}
