import { useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";
import { headwater } from "../api/client";
import { useReloadSoon } from "../api/fresh";
import { isWebhook, nounOf } from "../api/listeners";
import { useLive } from "../api/live";
import { useOwnAccount } from "../api/own-account";
import { useResource } from "../api/resource";
import { to } from "../lib/address";
import { copyText } from "../lib/copy";
import { apiCommand } from "../lib/curl";
import { orgId } from "../lib/shown-account";
import { Button, Card, Copyable, CopyBlock, LinkButton, Moment, Notice, Page } from "../ui/basics";
import { Loaded } from "../ui/states";
import { Thing } from "../ui/thing";
import { toast } from "../ui/toasts";
import { Attempts } from "./attempts";
import { ChangeDeliveries } from "./change-deliveries";
import { DeliveryState } from "./delivery-parts";
import { Request } from "./delivery-request";

const REASONS: Record<string, string> = {
  exhausted: "All retries were made, and none succeeded.",
  gone: "The endpoint responded 410 Gone: it wants no more events.",
  "webhook-disabled": "The listener is disabled.",
  "payload-gone": "The event's data is gone.",
  "webhook-deleted": "The listener was deleted.",
  "subscription-deleted": "The subscription was deleted.",
  "dropped-by-function": "The subscription's function dropped the event.",
  "by-request": "Somebody cancelled it.",
  "access-lost": "The owner of the subscription can no longer access the emitter or the listener.",
};

export function Delivery() {
  const { id = "" } = useRoute().params;
  const resource = useResource(
    call =>
      headwater.request("get", "/deliveries/{id}", { params: { id }, query: { expand: "event" } }, call),
    [id],
  );
  useOwnAccount(resource.data);
  const soon = useReloadSoon(resource);
  useLive(
    { deliveries: true, org: orgId.value },
    {
      onDelivery: one => one.id === id && soon(),
      onReady: () => soon(),
      onSkipped: () => soon(),
    },
  );
  const retry = async () => {
    await headwater.deliveries.retry(id);
    toast("It is sent again now.", "good");
    resource.reload();
  };
  const state = resource.data?.state;
  const [isCancelling, setCancelling] = useState(false);
  return (
    <Page
      title="Delivery"
      crumbs={<a href={to("/deliveries")}>Deliveries</a>}
      badge={state && <DeliveryState state={state} />}
      about={<Copyable text={id} label="id" />}
      actions={
        resource.data && (
          <>
            <LinkButton
              href={to(`/events/${resource.data.emitter_id}/${resource.data.event_id}`)}
              icon="route"
            >
              Where did it go?
            </LinkButton>
            <Button icon="copy" onClick={() => copyJson(resource.data)}>
              Copy JSON
            </Button>
            {state === "pending" && (
              <Button changes icon="x" onClick={() => setCancelling(true)}>
                Cancel …
              </Button>
            )}
            <Button changes kind="primary" icon="refresh" onClick={retry}>
              Retry now
            </Button>
          </>
        )
      }
    >
      <Loaded resource={resource}>
        {delivery => (
          <>
            {delivery.reason && (
              <Notice tone={delivery.state === "failed" ? "bad" : "info"}>
                {REASONS[delivery.reason] ?? delivery.reason}
              </Notice>
            )}
            <div class="columns wide-left">
              <div class="stack">
                <Card title="Attempts">
                  {delivery.attempts.length > 0 ? (
                    <Attempts
                      attempts={delivery.attempts}
                      listenerId={delivery.webhook_id}
                      hasHeaders={isWebhook(delivery.webhook_id)}
                    />
                  ) : (
                    <p class="muted">
                      {delivery.finished_at_ms === null
                        ? "The first attempt is not made yet."
                        : "No attempt was made."}
                    </p>
                  )}
                </Card>
                <Request delivery={delivery} />
              </div>
              <div class="stack">
                <Card title="Facts">
                  <dl class="facts">
                    <dt>{nounOf(delivery.webhook_id)}</dt>
                    <dd>
                      <Thing id={delivery.webhook_id} name={delivery.webhook_name} />
                    </dd>
                    <dt>Subscription</dt>
                    <dd>
                      <a href={to(`/subscriptions/${delivery.subscription_id}`)}>
                        {delivery.subscription_id}
                      </a>
                    </dd>
                    <dt>Emitter</dt>
                    <dd>
                      <Thing id={delivery.emitter_id} name={delivery.emitter_name} />
                    </dd>
                    <dt>Event</dt>
                    <dd>
                      <code>{delivery.event_id}</code>
                    </dd>
                    {delivery.run_id && (
                      <>
                        <dt>Run</dt>
                        <dd>
                          <a href={to(`/runs/${delivery.run_id}`)}>{delivery.run_id}</a>
                        </dd>
                      </>
                    )}
                    <dt>Channel</dt>
                    <dd>{delivery.event_name || "default"}</dd>
                    <dt>Attempts</dt>
                    <dd>{delivery.attempts_made}</dd>
                    {delivery.next_attempt_at_ms !== null && (
                      <>
                        <dt>Next attempt</dt>
                        <dd>
                          <Moment ms={delivery.next_attempt_at_ms} />
                        </dd>
                      </>
                    )}
                    {delivery.finished_at_ms !== null && (
                      <>
                        <dt>Ended</dt>
                        <dd>
                          <Moment ms={delivery.finished_at_ms} />
                        </dd>
                      </>
                    )}
                  </dl>
                </Card>
                <Card title="Retry with curl">
                  <CopyBlock
                    text={apiCommand(`/deliveries/${id}/retry`, { method: "POST" })}
                    label="Retry as curl"
                  />
                </Card>
              </div>
            </div>
          </>
        )}
      </Loaded>
      {isCancelling && resource.data && (
        <ChangeDeliveries
          what="cancel"
          deliveries={[resource.data]}
          onDone={resource.reload}
          onClose={() => setCancelling(false)}
        />
      )}
    </Page>
  );
}

async function copyJson(delivery: unknown): Promise<void> {
  if (await copyText(JSON.stringify(delivery, null, 2))) toast("Copied as JSON.", "good");
}
