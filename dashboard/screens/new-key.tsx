import { useState } from "preact/hooks";
import { headwater, type Schemas } from "../api/client";
import { Button, CopyBlock, Notice } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Field, Form, Select, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { ThingField } from "../ui/thing-field";

type Access = Schemas["ApiKey"]["access"];

/** What a key may do, as people read it. */
export const ACCESS: Record<Access, string> = {
  full: "Everything that you can",
  read: "Read",
  publish: "Publish events",
};

const NEVER = "";
const DAY_S = 86_400;
/** Of seconds from now on. */
const LIVES = [
  { value: NEVER, label: "Never" },
  ...[7, 30, 90].map(days => ({ value: String(days * DAY_S), label: `In ${days} days` })),
  { value: String(365 * DAY_S), label: "In a year" },
];

/** What is made: a key, or an address with a key of its own in it. */
type Kind = "key" | "connector_url";
const KINDS: Record<Kind, string> = {
  key: "A key, which a program sends",
  connector_url: "A connector URL, for an agent's host that can't send a key",
};

/** Makes a key of the user, or a connector URL, which is shown once. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<{ kind: Kind; text: string } | null>(null);
  if (made === null) {
    return (
      <Dialog title="New API key" onClose={onClose}>
        <Wanted onClose={onClose} onMade={(kind, text) => setMade({ kind, text })} />
      </Dialog>
    );
  }
  const isKey = made.kind === "key";
  return (
    <Dialog hasSecret title={isKey ? "Keep this key" : "Keep this address"} onClose={onClose}>
      <Notice tone="warn">
        {isKey
          ? "It is shown only now."
          : "It is shown only now, and what has it connects: treat it as a password."}
      </Notice>
      <CopyBlock text={made.text} label={isKey ? "API key" : "Connector URL"} />
      <div class="row end">
        <Button kind="primary" onClick={onClose}>
          I have kept it
        </Button>
      </div>
    </Dialog>
  );
}

interface WantedProps {
  onClose: () => void;
  onMade: (kind: Kind, text: string) => void;
}

function Wanted({ onClose, onMade }: WantedProps) {
  const [kind, setKind] = useState<Kind>("key");
  const [name, setName] = useState("");
  const [access, setAccess] = useState<Access>("full");
  const [emitters, setEmitters] = useState([""]);
  const [life, setLife] = useState(NEVER);
  const { fault, faultOf, send } = useSending();
  const create = () =>
    send(async () => {
      const emitterIds = [...new Set(emitters)].filter(id => id !== "");
      const wanted = {
        ...(name && { name }),
        ...(life !== NEVER && { expires_at: Math.floor(Date.now() / 1000) + Number(life) }),
      };
      if (kind === "connector_url" && access !== "publish") {
        onMade(kind, (await headwater.apiKeys.createConnectorUrl({ access, ...wanted })).url);
        return;
      }
      const made = await headwater.apiKeys.create({
        access,
        ...wanted,
        ...(access === "publish" && emitterIds.length > 0 && { emitter_ids: emitterIds }),
      });
      onMade("key", made.api_key);
    });
  const choose = (next: Kind) => {
    setKind(next);
    setAccess(next === "key" ? "full" : "read");
  };
  const accesses = Object.entries(ACCESS).filter(([value]) => kind === "key" || value !== "publish");
  return (
    <Form onSend={create}>
      <FormFault fault={fault} isShown={path => path === "name" || path === "expires_at"} />
      <TextField
        label="Name"
        value={name}
        onInput={setName}
        fault={faultOf("name")}
        hint="What it is for, such as a laptop or a server."
      />
      <Select
        label="It is"
        value={kind}
        choices={Object.entries(KINDS).map(([value, label]) => ({ value, label }))}
        onChange={value => choose(value as Kind)}
        hint={kind === "key" ? undefined : "It is of use to agents only, and at this address only."}
      />
      <Select
        label="It may"
        value={access}
        choices={accesses.map(([value, label]) => ({ value, label }))}
        onChange={value => setAccess(value as Access)}
        hint={
          kind === "key"
            ? "A key that only reads or publishes can't sign in here. Addresses at which a stranger could send events are not shown to one that reads."
            : "An agent changes things only where the operator allows it and the address ends in ?write=1, too."
        }
      />
      {kind === "key" && access === "publish" && <Emitters ids={emitters} onChange={setEmitters} />}
      <Select
        label="It expires"
        value={life}
        choices={LIVES}
        onChange={setLife}
        fault={faultOf("expires_at")}
      />
      <div class="row end">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" kind="primary">
          {kind === "key" ? "Create key" : "Create address"}
        </Button>
      </div>
    </Form>
  );
}

interface EmittersProps {
  /** An empty one is a field in which nothing is chosen yet. */
  ids: string[];
  onChange: (ids: string[]) => void;
}

function Emitters({ ids, onChange }: EmittersProps) {
  return (
    <>
      {ids.map((id, at) => (
        <Field
          // The field at a place stays the same, and keeps the focus, whatever is chosen in it.
          key={at}
          label={at === 0 ? "To a source or workflow (optional)" : "Or to"}
          {...(at === 0 && { hint: "By its name or its id. Without one, to all of them." })}
        >
          {props => (
            <ThingField
              {...props}
              kinds={["dc", "p"]}
              value={id}
              onChange={next => onChange(ids.with(at, next))}
            />
          )}
        </Field>
      ))}
      <div class="row">
        <Button isSmall icon="plus" onClick={() => onChange([...ids, ""])}>
          Add another
        </Button>
      </div>
    </>
  );
}
