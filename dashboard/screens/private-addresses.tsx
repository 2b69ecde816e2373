import { useState } from "preact/hooks";
import { headwater, type Schemas } from "../api/client";
import { Button } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Form, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { toast } from "../ui/toasts";

type Opened = Schemas["PrivateAddresses"];

/** Where an operator opens private addresses to a connection, which is mostly another account's and known by its id. */
export function PrivateAddresses({ onClose }: { onClose: () => void }) {
  const [opened, setOpened] = useState<Opened | null>(null);
  return (
    <Dialog title="Private addresses" onClose={onClose}>
      {opened ? <Addresses opened={opened} onClose={onClose} /> : <Find onFound={setOpened} />}
    </Dialog>
  );
}

function Find({ onFound }: { onFound: (opened: Opened) => void }) {
  const [id, setId] = useState("");
  const { fault, send } = useSending();
  return (
    <Form onSend={() => send(async () => onFound(await headwater.connections.privateAddresses(id.trim())))}>
      <FormFault fault={fault} />
      <p>
        Code reaches public addresses only. What you open to a connection, its code reaches besides: a
        database inside, for example.
      </p>
      <TextField
        label="Connection"
        isRequired
        value={id}
        onInput={setId}
        placeholder="apn_…"
        hint="Its id, which its owner sees in the list of connections. It may be one of any account."
      />
      <div class="row end">
        <Button type="submit" kind="primary">
          Show
        </Button>
      </div>
    </Form>
  );
}

function Addresses({ opened, onClose }: { opened: Opened; onClose: () => void }) {
  const { id, app, name, owner_id } = opened;
  const [text, setText] = useState(opened.private_addresses.join("\n"));
  const { fault, faultOf, send } = useSending();
  const save = () =>
    send(async () => {
      const addresses = text.split(/\s+/).filter(Boolean);
      await headwater.connections.openPrivateAddresses(id, addresses);
      toast(addresses.length > 0 ? "Opened." : "Closed.", "good");
      onClose();
    });
  return (
    <Form onSend={save}>
      <FormFault fault={fault} isShown={path => path.startsWith("private_addresses")} />
      <p>
        {name} ({app}) of the account <span class="mono">{owner_id}</span>
      </p>
      <TextField
        label="Open to its code"
        isLong
        rows={4}
        value={text}
        onInput={setText}
        fault={faultOf("private_addresses")?.replace(/^\[(\d+)\]/, (_, at) => `no. ${Number(at) + 1}`)}
        placeholder="10.0.0.5:5432"
        hint="Host and port, one a line; none closes all. All who may deploy code in that account can reach them."
      />
      <div class="row end">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" kind="primary">
          Save
        </Button>
      </div>
    </Form>
  );
}
