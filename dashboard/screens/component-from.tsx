import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { Button } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Form, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";

/** Finds a component by its key, or saves one from an address, and goes to its deployment. */
export function ComponentFrom({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const [text, setText] = useState("");
  const { fault, faultOf, send } = useSending();
  const given = text.trim();
  const isAddress = /^https?:\/\//.test(given);
  const find = () =>
    send(async () => {
      const { components } = inAccount();
      const { id } = isAddress
        ? await components.create({ component_url: given })
        : await components.get(given);
      onClose();
      route(to(`/components/${id}/deploy`));
    });
  return (
    <Dialog title="Deploy by key or address" onClose={onClose}>
      <Form onSend={find}>
        <FormFault fault={fault} isShown={path => path === "component_url"} />
        <TextField
          label="Key or address"
          value={text}
          onInput={setText}
          isRequired
          placeholder="https://github.com/OWNER/REPO/blob/main/source.mjs"
          fault={faultOf("component_url")}
          hint="The key of a component that is saved or published, or the address of code, which is saved with what it imports."
        />
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isDisabled={given === ""}>
            Go on
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
