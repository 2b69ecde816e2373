import { useState } from "preact/hooks";
import { headwater } from "../api/client";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { Button } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Form, Select, TextField } from "../ui/form";
import { type FaultOf, FormFault, useSending } from "../ui/form-fault";
import { leaveFor } from "../ui/unsaved";
import { ANY_APP } from "./account-field";
import { EventRules, rulesOf, typedRules } from "./event-rules";

const KEYS = "";

interface TypedField {
  name: string;
  value: string;
}

/** Connects an account of an app: by keys that are typed, or by the app's consent, to whose page the browser goes. `app` is the one that is wanted. */
export function NewConnection({ app: wanted, onClose }: { app: string | undefined; onClose: () => void }) {
  const apps = useResource(options => headwater.connections.apps(options), []);
  const [chosen, setApp] = useState<string | null>(null);
  const [name, setName] = useState("");
  const [slug, setSlug] = useState(wanted === undefined || wanted === ANY_APP ? "" : wanted);
  const [fields, setFields] = useState<TypedField[]>([{ name: "api_key", value: "" }]);
  const [rules, setRules] = useState(typedRules(null));
  const { fault, faultOf, send } = useSending();
  const label = name === "" ? {} : { name };
  const asksConsent = apps.data?.data.some(one => one.slug === wanted) ?? false;
  const app = chosen ?? (wanted && asksConsent ? wanted : KEYS);
  const create = () =>
    send(async () => {
      if (app !== KEYS) return leaveFor((await inAccount().connections.connect({ app, ...label })).url);
      const values = Object.fromEntries(fields.map(one => [one.name.trim(), one.value]));
      const events = rulesOf(rules);
      await inAccount().connections.create({
        app: slug.trim(),
        ...label,
        fields: values,
        ...(events && { events }),
      });
      onClose();
    });
  const choices = (apps.data?.data ?? []).map(one => ({ value: one.slug, label: one.name }));
  return (
    <Dialog title="New connection" onClose={onClose}>
      <Form onSend={create}>
        <FormFault fault={fault} isShown={path => /^(name|app|fields|events)\b/.test(path)} />
        <Select
          label="Kind"
          value={app}
          choices={[{ value: KEYS, label: "A key that I have" }, ...choices]}
          onChange={setApp}
          hint="Apps that ask for consent are registered by the operator."
        />
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          fault={faultOf("name")}
          hint="Shown in lists; the app if empty."
        />
        {app === KEYS && (
          <>
            <TextField
              label="App"
              isRequired
              value={slug}
              fault={faultOf("app")}
              onInput={setSlug}
              placeholder="weather"
              hint="The slug by which components name it."
            />
            <Fields fields={fields} onChange={setFields} faultOf={faultOf} />
            <EventRules
              rules={rules}
              ofApp={apps.data?.data.find(one => one.slug === slug.trim())?.events ?? null}
              onChange={setRules}
              faultOf={faultOf}
            />
          </>
        )}
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary">
            {app === KEYS ? "Create connection" : "Continue"}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

interface FieldsProps {
  fields: TypedField[];
  onChange: (fields: TypedField[]) => void;
  faultOf: FaultOf;
}

/** The credentials by their names, such as a user and a password. */
function Fields({ fields, onChange, faultOf }: FieldsProps) {
  const change = (at: number, changes: Partial<TypedField>) =>
    onChange(fields.map((one, i) => (i === at ? { ...one, ...changes } : one)));
  const nth = (at: number) => (fields.length > 1 ? ` ${at + 1}` : "");
  return (
    <>
      {fields.map((field, i) => (
        <>
          <TextField
            label={`Field${nth(i)}`}
            isRequired
            value={field.name}
            fault={faultOf(`fields.${field.name.trim()}`) ?? (i === 0 ? faultOf("fields") : undefined)}
            onInput={name => change(i, { name })}
            hint="Its name in $auth."
          />
          <TextField
            label={`Value${nth(i)}`}
            type="password"
            autocomplete="off"
            isRequired
            value={field.value}
            onInput={value => change(i, { value })}
          />
        </>
      ))}
      <div class="row">
        <Button isSmall icon="plus" onClick={() => onChange([...fields, { name: "", value: "" }])}>
          Another field
        </Button>
        {fields.length > 1 && (
          <Button isSmall icon="trash" onClick={() => onChange(fields.slice(0, -1))}>
            Remove field {fields.length}
          </Button>
        )}
      </div>
    </>
  );
}
