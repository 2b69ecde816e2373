import { useState } from "preact/hooks";
import { headwater, messageOf, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { Button, Notice } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { TextField } from "../ui/form";
import { toast } from "../ui/toasts";
import { EventRules, rulesOf, typedRules } from "./event-rules";

interface EditProps {
  connection: Schemas["Connection"];
  onClose: () => void;
}

/** Renames a connection, or replaces how its events are read or its keys: all of these at once, as nothing of them is shown. */
export function EditConnection({ connection, onClose }: EditProps) {
  const [name, setName] = useState(connection.name);
  const [values, setValues] = useState<Record<string, string>>({});
  const [rules, setRules] = useState(typedRules(connection.events));
  const [fault, setFault] = useState<unknown>();
  const apps = useResource(options => headwater.connections.apps(options), []);
  const app = apps.data?.data.find(({ slug }) => slug === connection.app);
  const isOther = JSON.stringify(rules) !== JSON.stringify(typedRules(connection.events));
  const isReplaced = Object.values(values).some(value => value !== "");
  const save = async () => {
    setFault(undefined);
    try {
      await headwater.connections.update(connection.id, {
        name,
        ...(isReplaced && { fields: values }),
        ...(isOther && { events: rulesOf(rules) }),
      });
      toast("Saved.", "good");
      onClose();
    } catch (error) {
      setFault(error);
    }
  };
  const renew = async () => {
    setFault(undefined);
    try {
      await headwater.connections.renew(connection.id);
      toast("Renewed.", "good");
      onClose();
    } catch (error) {
      setFault(error);
    }
  };
  return (
    <Dialog title={`Edit ${connection.name}`} onClose={onClose}>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          void save();
        }}
      >
        {fault !== undefined && <Notice tone="bad">{messageOf(fault)}</Notice>}
        <TextField label="Name" isRequired value={name} onInput={setName} />
        {connection.kind === "keys" &&
          connection.field_names.map(field => (
            <TextField
              key={field}
              label={`New value of ${field}`}
              type="password"
              autocomplete="off"
              isRequired={isReplaced}
              value={values[field] ?? ""}
              onInput={value => setValues({ ...values, [field]: value })}
              hint={
                connection.field_names.length === 1
                  ? "Empty keeps the one that is stored."
                  : "Empty keeps all that are stored; with a new one, give every other again."
              }
            />
          ))}
        <EventRules rules={rules} ofApp={app?.events ?? null} onChange={setRules} />
        {connection.kind === "oauth2" && connection.health !== "broken" && (
          <div class="row">
            <Button isSmall onClick={() => void renew()}>
              Renew its token now
            </Button>
            <span class="hint">Needed only if the app ended it before its time.</span>
          </div>
        )}
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary">
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
