import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import type { Schemas } from "../api/client";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { scheduleOf, waitFault } from "../lib/retry-schedule";
import { Button } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Form, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { type Format, FormatField } from "./webhook-format";
import { KeyShown, type Signing, SigningField } from "./webhook-key";
import { SCHEDULE_HINT, TIMEOUT_HINT } from "./webhook-parts";

const FIELDS = ["url", "name", "format", "signing", "signing_key", "retry_schedule", "timeout_seconds"];

/** Asks for an address, and for what else differs from the server's own settings; then shows the key, once. */
export function NewWebhook({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [signing, setSigning] = useState<Signing>("hmac");
  const [format, setFormat] = useState<Format>("json");
  const [hasMore, setMore] = useState(false);
  const { fault, faultOf, send } = useSending();
  const [created, setCreated] = useState<Schemas["WebhookWithKey"] | null>(null);
  const { url = "", name = "", signing_key = "", retry_schedule = "", timeout_seconds = "" } = typed;
  const text = (field: string) => ({
    value: typed[field] ?? "",
    onInput: (value: string) => setTyped(latest => ({ ...latest, [field]: value })),
    fault: faultOf(field),
  });
  const leave = ({ id }: { id: string }) => route(to(`/webhooks/${id}`));
  const hasOwnKey = signing === "hmac" && signing_key.trim() !== "";
  const create = () =>
    send(async () => {
      const webhook = await inAccount().webhooks.create({
        url: url.trim(),
        ...(name && { name }),
        ...(format !== "json" && { format }),
        ...(signing !== "hmac" && { signing }),
        ...(hasOwnKey && { signing_key: signing_key.trim() }),
        ...(retry_schedule.trim() && { retry_schedule: scheduleOf(retry_schedule) }),
        ...(timeout_seconds.trim() && { timeout_seconds: Number(timeout_seconds) }),
      });
      // Who brought the key has it.
      if (hasOwnKey) leave(webhook);
      else setCreated(webhook);
    });
  if (created) {
    const isSecret = created.signing === "hmac";
    return (
      <Dialog
        hasSecret={isSecret}
        isQuestion
        title={isSecret ? "Keep this signing key" : "Verify with this public key"}
        onClose={() => leave(created)}
      >
        <KeyShown signingKey={created.signing_key} signing={created.signing} />
        <div class="row end">
          <Button kind="primary" onClick={() => leave(created)}>
            {isSecret ? "I have kept it" : "To the webhook"}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="New webhook" onClose={onClose}>
      <Form onSend={create}>
        <FormFault fault={fault} isShown={path => FIELDS.includes(path.split(".")[0] ?? "")} />
        <TextField
          {...text("url")}
          label="Address"
          type="url"
          placeholder="https://example.com/hook"
          isRequired
        />
        <TextField {...text("name")} label="Name" hint="Shown in lists; the address if empty." />
        {hasMore ? (
          <>
            <FormatField value={format} onChange={setFormat} fault={faultOf("format")} />
            <SigningField value={signing} onChange={setSigning} />
            {signing === "hmac" && (
              <TextField
                {...text("signing_key")}
                label="Signing key of your own"
                type="password"
                autocomplete="off"
                placeholder="whsec_…"
                hint="whsec_ and the base64 of 24 to 64 bytes; empty for a new one."
              />
            )}
            <TextField
              {...text("retry_schedule")}
              fault={waitFault(faultOf("retry_schedule"))}
              label="Waits before retries"
              placeholder="5s, 1m, 1h"
              hint={SCHEDULE_HINT}
            />
            <TextField
              {...text("timeout_seconds")}
              label="Seconds for an attempt"
              type="number"
              hint={TIMEOUT_HINT}
            />
          </>
        ) : (
          <div>
            <Button isSmall onClick={() => setMore(true)}>
              Body, signing, retries, time-out …
            </Button>
          </div>
        )}
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary">
            Create webhook
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
