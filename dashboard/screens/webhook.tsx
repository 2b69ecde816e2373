import { useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";
import { headwater, type Schemas } from "../api/client";
import { useEdits } from "../api/edits";
import { useFresh } from "../api/fresh";
import { useOwnAccount } from "../api/own-account";
import { type Resource, useResource } from "../api/resource";
import { to } from "../lib/address";
import { Button, Card, CopyBlock, Page, Tabs } from "../ui/basics";
import { Confirm } from "../ui/dialog";
import { TextField } from "../ui/form";
import { faultsOf } from "../ui/form-fault";
import { HelpLink } from "../ui/help-link";
import { Loaded } from "../ui/states";
import { useUnsaved } from "../ui/unsaved";
import { IdOfThing } from "./audit-parts";
import { ListenerDeliveries } from "./listener-deliveries";
import { Health } from "./listener-health";
import { ListenerSettings } from "./listener-settings";
import { TestSend } from "./test-send";
import { ThingSubscriptions } from "./thing-subscriptions";
import { WebhookBadge } from "./webhook-badge";
import { type Format, FormatField } from "./webhook-format";
import { WebhookHeaders } from "./webhook-headers";
import { KeyShown, type Signing, SigningField, Verify } from "./webhook-key";

type Webhook = Schemas["Webhook"];

const TABS = [
  ["", "Health"],
  ["deliveries", "Deliveries"],
  ["subscriptions", "Subscriptions"],
  ["signing", "Signing"],
  ["settings", "Settings"],
] as const;

export function Webhook() {
  const { id = "", tab = "" } = useRoute().params;
  const resource = useResource(call => headwater.webhooks.get(id, call), [id]);
  useFresh(resource, { of: id });
  useOwnAccount(resource.data);
  const webhook = resource.data;
  return (
    <Page
      title={webhook ? webhook.name || webhook.url : "Webhook"}
      crumbs={<a href={to("/webhooks")}>Webhooks</a>}
      badge={webhook && <WebhookBadge webhook={webhook} />}
      about={<IdOfThing id={id} />}
      actions={webhook && <TestSend id={id} />}
    >
      <Loaded resource={resource}>
        {detail => (
          <>
            <Tabs
              label="Webhook"
              tabs={TABS.map(([path, label]) => ({
                label,
                href: to(`/webhooks/${id}${path && `/${path}`}`),
                isCurrent: tab === path,
              }))}
            />
            {tab === "" && <Health listener={detail} resource={resource} />}
            {tab === "deliveries" && <ListenerDeliveries id={id} />}
            {tab === "subscriptions" && <ThingSubscriptions id={id} as="listener" />}
            {tab === "signing" && <SigningKeys webhook={detail} resource={resource} />}
            {tab === "settings" && <Settings webhook={detail} resource={resource} />}
            {tab === "settings" && <WebhookHeaders webhook={detail} resource={resource} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

const requestOf = ({ url, format }: Webhook) => ({ url, format });
const REQUEST_LABELS: Record<string, string> = { url: "Address", format: "Body" };

function Settings({ webhook, resource }: { webhook: Webhook; resource: Resource<Webhook> }) {
  const request = useEdits(webhook, requestOf);
  return (
    <ListenerSettings
      listener={webhook}
      resource={resource}
      parts={[request]}
      changes={() => request.changes}
      labelOf={name => REQUEST_LABELS[name] ?? name}
      isShown={path => path in REQUEST_LABELS}
    >
      {fault => (
        <>
          <TextField
            label="Address"
            type="url"
            value={String(request.values.url)}
            onInput={url => request.set("url", url)}
            fault={faultsOf(fault)("url")}
            isRequired
          />
          <FormatField
            value={request.values.format as Format}
            onChange={format => request.set("format", format)}
            fault={faultsOf(fault)("format")}
          />
        </>
      )}
    </ListenerSettings>
  );
}

type Shown = Schemas["WebhookWithKey"];

function SigningKeys({ webhook, resource }: { webhook: Webhook; resource: Resource<Webhook> }) {
  const [isAsking, setAsking] = useState(false);
  const [kind, setKind] = useState<Signing>(webhook.signing);
  const [shown, setShown] = useState<Shown | null>(null);
  useUnsaved(shown?.signing === "hmac", "The key is shown only now.");
  const rotate = async () => {
    const rotated = await headwater.webhooks.rotateSigningKey(webhook.id, { signing: kind });
    const { signing_key: _, ...now } = rotated;
    setShown(rotated);
    resource.put(now);
  };
  return (
    <div class="stack">
      <Card
        title={webhook.signing === "hmac" ? "Signing key" : "Public key"}
        actions={
          <>
            <HelpLink topic="signing" />
            <Button changes icon="refresh" onClick={() => setAsking(true)}>
              Rotate
            </Button>
          </>
        }
      >
        {shown ? (
          <div class="stack tight">
            <KeyShown signingKey={shown.signing_key} signing={shown.signing} />
          </div>
        ) : (
          <div class="stack tight">
            {webhook.public_key !== null && <CopyBlock text={webhook.public_key} label="Public key" />}
            <p class="muted">
              {webhook.public_key === null && "It was shown when the webhook was created. "}
              After a rotation both keys sign for 24 hours, so that the receiver can change over.
            </p>
          </div>
        )}
      </Card>
      {!shown && (
        <Card title="Verify a delivery">
          <Verify signing={webhook.signing} />
        </Card>
      )}
      {isAsking && (
        <Confirm
          title="Rotate the signing key?"
          action="Rotate"
          onClose={() => setAsking(false)}
          onConfirm={rotate}
        >
          <p>The new key is shown once. The old one signs too for 24 hours.</p>
          <SigningField value={kind} onChange={setKind} />
        </Confirm>
      )}
    </div>
  );
}
