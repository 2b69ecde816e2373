import { useState } from "preact/hooks";
import { headwater, messageOf, type Schemas } from "../api/client";
import { Button, Notice } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { TextField } from "../ui/form";
import { toast } from "../ui/toasts";

interface EditProps {
  connection: Schemas["Connection"];
  onClose: () => void;
}

/** Renames a connection, or replaces its keys: all of them at once, as nothing of them is shown. */
export function EditConnection({ connection, onClose }: EditProps) {
  const [name, setName] = useState(connection.name);
  const [values, setValues] = useState<Record<string, string>>({});
  const [fault, setFault] = useState<unknown>();
  const isReplaced = Object.values(values).some(value => value !== "");
  const save = async () => {
    setFault(undefined);
    try {
      await headwater.connections.update(connection.id, { name, ...(isReplaced && { fields: values }) });
      toast("Saved.", "good");
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
