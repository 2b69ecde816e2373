import { useState } from "preact/hooks";
import { headwater, type Schemas } from "../api/client";
import type { Resource } from "../api/resource";
import { Badge, Button, Card } from "../ui/basics";
import { Confirm } from "../ui/dialog";
import { Form, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { toast } from "../ui/toasts";
import { useUnsaved } from "../ui/unsaved";

type Webhook = Schemas["Webhook"];

/** Lines of `Name: value` as the API takes headers; a line without a colon is a name without a value. */
function headersOf(text: string): Record<string, string> {
  const lines = text.split("\n").filter(line => line.trim() !== "");
  return Object.fromEntries(
    lines.map(line => {
      const [, name = line, value = ""] = /^([^:]*):(.*)$/.exec(line) ?? [];
      return [name.trim(), value.trim()];
    }),
  );
}

/** The custom headers of a webhook. Their values are never shown, so that they are replaced together. */
export function WebhookHeaders({ webhook, resource }: { webhook: Webhook; resource: Resource<Webhook> }) {
  const [text, setText] = useState("");
  const [isRemoving, setRemoving] = useState(false);
  const { fault, faultOf, send } = useSending();
  useUnsaved(text !== "");
  const { id, header_names: names } = webhook;
  const put = async (headers: Record<string, string> | null) => {
    resource.put(await headwater.webhooks.update(id, { headers }));
    setText("");
    toast(headers ? "Saved." : "The headers are removed.", "good");
  };
  return (
    <Card title="Custom headers">
      <Form onSend={() => send(() => put(headersOf(text)))}>
        <div class="row">
          {names.length > 0 ? (
            names.map(name => (
              <Badge key={name} isPlain>
                {name}
              </Badge>
            ))
          ) : (
            <span class="muted">
              None. Such a header may carry what the receiver wants to see in each request.
            </span>
          )}
        </div>
        <FormFault fault={fault} isShown={path => path.startsWith("headers")} />
        <TextField
          label={names.length > 0 ? "Replace them by" : "Headers"}
          isLong
          rows={3}
          value={text}
          onInput={setText}
          placeholder={"Authorization: Bearer …\nX-Tenant: 17"}
          fault={faultOf("headers")}
          hint="One a line, with its value. Values are stored encrypted and never shown: give those again that are to stay."
        />
        <div class="row">
          <Button changes type="submit" isDisabled={text.trim() === ""}>
            {names.length > 0 ? "Replace headers" : "Save headers"}
          </Button>
          {names.length > 0 && (
            <Button changes kind="danger" icon="trash" onClick={() => setRemoving(true)}>
              Remove all
            </Button>
          )}
        </div>
      </Form>
      {isRemoving && (
        <Confirm
          title={`Remove ${names.join(", ")}?`}
          action="Remove"
          onClose={() => setRemoving(false)}
          onConfirm={() => put(null)}
        >
          <p>Their values can't be read back: who needs them again has to know them.</p>
        </Confirm>
      )}
    </Card>
  );
}
