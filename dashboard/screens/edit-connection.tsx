import { useState } from "preact/hooks";
import { headwater, type Schemas } from "../api/client";
import { asRead, saveEdits, useEdits } from "../api/edits";
import { useResource } from "../api/resource";
import { connectionVerify, ruleOf, usePresets, useVerifyForm, verifyFields } from "../api/verification";
import { Button } from "../ui/basics";
import { Clashes } from "../ui/clashes";
import { Dialog } from "../ui/dialog";
import { Form, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { toast } from "../ui/toasts";
import { EventRules, rulesOf, type TypedRules, typedRules } from "./event-rules";
import { hasVerifyField, VERIFY_LABELS, VerifyFields, type VerifyFieldsProps } from "./verify-fields";

interface EditProps {
  connection: Schemas["Connection"];
  onClose: () => void;
}

type Connection = Schemas["Connection"];

const fieldsOf = ({ name, events }: Connection) => ({ name, events: typedRules(events) });
const LABELS: Record<string, string> = {
  name: "Name",
  events: "Events that the app sends",
  ...VERIFY_LABELS,
};

/** Renames a connection, or replaces how its events are read and verified, or its keys: all at once, as nothing of them is shown. */
export function EditConnection({ connection, onClose }: EditProps) {
  const [latest, setLatest] = useState(connection);
  const edits = useEdits(latest, fieldsOf);
  const [values, setValues] = useState<Record<string, string>>({});
  const rules = edits.values.events as TypedRules;
  const { fault, faultOf, send } = useSending();
  const apps = useResource(options => headwater.connections.apps(options), []);
  const app = apps.data?.data.find(({ slug }) => slug === connection.app);
  const ofApp = app?.verify ?? null;
  const presets = usePresets();
  const verifyEdits = useEdits(latest, ({ verify }) => verifyFields(connectionVerify(verify, ofApp)));
  const sender = useVerifyForm(verifyEdits, {
    verify: connectionVerify(latest.verify, ofApp),
    ...(ofApp && { author: ruleOf(ofApp) }),
    presets: presets.data ?? [],
  });
  const isReplaced = Object.values(values).some(value => value !== "");
  const save = () =>
    send(async () => {
      const { name, events } = edits.changes;
      const isSaved = await saveEdits({
        resource: { put: setLatest },
        parts: [edits, verifyEdits],
        read: () => headwater.connections.get(connection.id),
        write: now => {
          const body = {
            ...(name !== undefined && { name: String(name) }),
            ...(isReplaced && { fields: values }),
            ...(events !== undefined && { events: rulesOf(rules) }),
            ...(sender.isChanged && { verify: sender.settings() }),
          };
          return headwater.connections.update(connection.id, body, asRead(now));
        },
      });
      if (!isSaved) return;
      toast("Saved.", "good");
      onClose();
    });
  const renew = () =>
    send(async () => {
      await headwater.connections.renew(connection.id);
      toast("Renewed.", "good");
      onClose();
    });
  return (
    <Dialog title={`Edit ${connection.name}`} onClose={onClose}>
      <Form onSend={save}>
        <FormFault
          fault={fault}
          isShown={path => path === "name" || /^(fields|events)\./.test(path) || hasVerifyField(path)}
        />
        {[edits, verifyEdits].map((part, at) => (
          <Clashes key={at} edits={part} stored={latest} labelOf={name => LABELS[name] ?? name} />
        ))}
        <TextField
          label="Name"
          isRequired
          value={String(edits.values.name)}
          onInput={name => edits.set("name", name)}
          fault={faultOf("name")}
        />
        {connection.kind === "keys" &&
          connection.field_names.map(field => (
            <TextField
              key={field}
              label={`New value of ${field}`}
              type="password"
              autocomplete="off"
              isRequired={isReplaced}
              fault={faultOf(`fields.${field}`)}
              value={values[field] ?? ""}
              onInput={value => setValues({ ...values, [field]: value })}
              hint={
                connection.field_names.length === 1
                  ? "Empty keeps the one that is stored."
                  : "Empty keeps all that are stored; with a new one, give every other again."
              }
            />
          ))}
        <EventRules
          rules={rules}
          ofApp={app?.events ?? null}
          onChange={next => edits.set("events", next)}
          faultOf={faultOf}
        />
        {apps.data && presets.data && (
          <Sender form={sender} presets={presets.data} fault={fault} faultOf={faultOf} />
        )}
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
      </Form>
    </Dialog>
  );
}

/** Who may send events of the app (docs/verify.md). */
function Sender(props: VerifyFieldsProps) {
  // As it begins: one that is opened stays open.
  const [isOpen] = useState(props.form.values.provider !== "");
  return (
    <details open={isOpen || props.faultOf("verify") !== undefined}>
      <summary>Verification</summary>
      <div class="form">
        <p class="hint">
          The server checks who signed a request before any source is run, and rejects the rest.
        </p>
        <VerifyFields {...props} />
      </div>
    </details>
  );
}
