import { useLocation, useRoute } from "preact-iso/router";
import { headwater } from "../api/client";
import { useFresh } from "../api/fresh";
import { useOwnAccount } from "../api/own-account";
import { useResource } from "../api/resource";
import { to } from "../lib/address";
import { Card, LinkButton, Notice, Page, Time } from "../ui/basics";
import { JsonTree } from "../ui/json-tree";
import { Loaded } from "../ui/states";
import { Disconnect, labelOf, type AgentSubscription as Subscription } from "./agent-parts";
import { IdOfThing } from "./audit-parts";
import { WebhookBadge } from "./webhook-badge";

/** One subscription of an agent: to what, how its callback does, and its end. */
export function AgentSubscription() {
  const { id = "" } = useRoute().params;
  const { route } = useLocation();
  const resource = useResource(call => headwater.mcpSubscriptions.get(id, call), [id]);
  useOwnAccount(resource.data);
  useFresh(resource, { on: ["deliveries"], of: id });
  const found = resource.data;
  return (
    <Page
      title={found ? labelOf(found) : "Agent"}
      crumbs={<a href={to("/agents")}>Agents</a>}
      badge={found && <WebhookBadge webhook={found} />}
      about={<IdOfThing id={id} />}
      actions={
        <>
          <LinkButton isSmall icon="send" href={to("/deliveries", { webhook_id: id })}>
            Deliveries
          </LinkButton>
          {found && <Disconnect subscription={found} onDone={() => route(to("/agents"))} />}
        </>
      }
    >
      <Loaded resource={resource}>
        {subscription => (
          <div class="stack">
            <Health subscription={subscription} />
            <Facts subscription={subscription} />
            {Object.keys(subscription.arguments).length > 0 && (
              <Card title="Arguments">
                <JsonTree value={subscription.arguments} />
              </Card>
            )}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Health({ subscription: { id, active, disabled_reason, failing_since } }: Shown) {
  if (!active) {
    return (
      <Notice tone="bad">
        It was disabled: {disabled_reason}. Its events are dropped until the agent subscribes again, or it
        expires.
      </Notice>
    );
  }
  if (failing_since === null) return null;
  return (
    <Notice tone="warn">
      Every attempt has failed since <Time seconds={failing_since} />; after a day of it, it is disabled until
      the agent subscribes again.{" "}
      <a class="in-text" href={to("/issues", { listener_id: id })}>
        Causes
      </a>
    </Notice>
  );
}

interface Shown {
  subscription: Subscription;
}

const Facts = ({ subscription: one }: Shown) => (
  <Card title="Subscription">
    <dl class="facts">
      <dt>Event type</dt>
      <dd>
        <code>{one.event_type}</code>
      </dd>
      <dt>Callback</dt>
      <dd>
        {one.callback_host}{" "}
        <span class="sub">the rest of its address may hold a secret, and is never shown</span>
      </dd>
      <dt>API key</dt>
      <dd>
        <code>{one.key_id}</code> <span class="sub">of user {one.user_id}</span>
      </dd>
      <dt>Last event</dt>
      <dd>
        <Time seconds={one.last_event_at} />
      </dd>
      <dt>Last delivery</dt>
      <dd>
        <Time seconds={one.last_success_at} />
      </dd>
      <dt>Last error</dt>
      <dd>
        <Time seconds={one.last_error_at} />
      </dd>
      <dt>Expires</dt>
      <dd>
        <Time seconds={one.expires_at} /> <span class="sub">unless the agent subscribes again</span>
      </dd>
      <dt>Created</dt>
      <dd>
        <Time seconds={one.created_at} />
      </dd>
    </dl>
  </Card>
);
