import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { ApiError, headwater, messageOf, type Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { type Resource, useResource } from "../api/resource";
import { to, useFilters } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { count, duration } from "../lib/format";
import { Badge, Button, Card, Copyable, LinkButton, Notice, Page, Tabs, Time } from "../ui/basics";
import { Confirm, Dialog } from "../ui/dialog";
import { Check, TextField } from "../ui/form";
import { List } from "../ui/list";
import { Loaded, NothingYet } from "../ui/states";
import { toast } from "../ui/toasts";
import { useLiveDeliveries } from "./deliveries";
import { wanted } from "./delivery-filters";
import { DeliveryTable } from "./delivery-parts";
import { StatsCharts } from "./stats";
import { KeyShown, Verify } from "./webhook-key";
import { WebhookBadge } from "./webhook-parts";

type Webhook = Schemas["Webhook"];

const TABS = [
  ["", "Health"],
  ["deliveries", "Deliveries"],
  ["signing", "Signing"],
  ["settings", "Settings"],
] as const;

export function Webhook() {
  const { id = "", tab = "" } = useRoute().params;
  const resource = useResource(call => headwater.webhooks.get(id, call), [id]);
  useFresh(resource, { of: id });
  const webhook = resource.data;
  return (
    <Page
      title={webhook ? webhook.name || webhook.url : "Webhook"}
      crumbs={<a href={to("/webhooks")}>Webhooks</a>}
      badge={webhook && <WebhookBadge webhook={webhook} />}
      about={<Copyable text={id} label="id" />}
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
            {tab === "" && <Health webhook={detail} resource={resource} />}
            {tab === "deliveries" && <Deliveries id={id} />}
            {tab === "signing" && <Signing webhook={detail} />}
            {tab === "settings" && <Settings webhook={detail} resource={resource} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface TestResult {
  status: number | null;
  latency_ms: number;
  error: string | null;
  response: string;
}

function TestSend({ id }: { id: string }) {
  const [result, setResult] = useState<TestResult | null>(null);
  return (
    <>
      <Button icon="send" onClick={async () => setResult(await headwater.webhooks.test(id))}>
        Send a test event
      </Button>
      {result && (
        <Dialog title="Test event" onClose={() => setResult(null)}>
          <div class="row">
            <Badge tone={result.error === null ? "good" : "bad"}>{result.status ?? "no response"}</Badge>
            <span class="muted">in {duration(result.latency_ms)}</span>
          </div>
          {result.error && <p class="fault">{result.error}</p>}
          {result.response && <pre class="response">{result.response}</pre>}
          <div class="row end">
            <Button onClick={() => setResult(null)}>Close</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function Health({ webhook, resource }: { webhook: Webhook; resource: Resource<Webhook> }) {
  const enable = async () => {
    resource.put(await headwater.webhooks.update(webhook.id, { active: true }));
    toast("The webhook is active again.", "good");
  };
  return (
    <div class="stack">
      {!webhook.active && (
        <Notice tone="bad">
          <div class="spread">
            <span>
              {webhook.disabled_reason ?? "It is disabled: nothing is sent, and its events count as dropped."}
            </span>
            <Button isSmall onClick={enable}>
              Enable
            </Button>
          </div>
        </Notice>
      )}
      {webhook.active && webhook.failing_since !== null && (
        <Notice tone="warn">
          {webhook.notice ?? "Every attempt since then failed."} Failing since{" "}
          <Time ms={webhook.failing_since * 1000} />
          {webhook.will_be_disabled_at !== null && (
            <>
              , will be disabled <Time ms={webhook.will_be_disabled_at * 1000} />
            </>
          )}
          .
        </Notice>
      )}
      <StatsCharts of={webhook.id} kind="webhook" command={subscribeCommand(webhook.id)} />
      <Recover id={webhook.id} />
    </div>
  );
}

const subscribeCommand = (id: string) =>
  apiCommand(`/subscriptions?emitter_id=dc_…&listener_id=${id}`, { method: "POST" });

const DAY_S = 86_400;

/** Sends what failed again, since a time; the count first. */
function Recover({ id }: { id: string }) {
  const [asked, setAsked] = useState<{ since: number; count: number } | null>(null);
  const ask = async (days: number) => {
    const since = Math.floor(Date.now() / 1000) - days * DAY_S;
    const found = await headwater.webhooks.recover(id, { since, dry_run: true });
    if (found.count === 0) toast("No delivery has failed since then.");
    else setAsked({ since, count: found.count });
  };
  return (
    <Card title="After an outage">
      <div class="row">
        <span class="grow muted">Send every failed delivery again, at the pace of the webhook.</span>
        <span class="row">
          {[1, 7, 30].map(days => (
            <Button key={days} isSmall onClick={() => ask(days)}>
              Last {days === 1 ? "24 hours" : `${days} days`}
            </Button>
          ))}
        </span>
      </div>
      {asked && (
        <Confirm
          title="Retry failed deliveries"
          action={`Retry ${count(asked.count)}`}
          onClose={() => setAsked(null)}
          onConfirm={async () => {
            await headwater.webhooks.recover(id, { since: asked.since });
            toast("They are on their way.", "good");
          }}
        >
          <p>
            {asked.count === 1 ? "1 failed delivery is" : `${count(asked.count)} failed deliveries are`} sent
            again.
          </p>
        </Confirm>
      )}
    </Card>
  );
}

function Deliveries({ id }: { id: string }) {
  const filters = useFilters(["state"]);
  const { state, after, before } = filters.query;
  const resource = useResource(
    call => {
      const query = { webhook_id: id, ...wanted({ state }), after, before, limit: 25 };
      return headwater.deliveries.list(query, call);
    },
    [id, state, after, before],
  );
  useLiveDeliveries(resource, !after && !before, one => one.webhook_id === id);
  return (
    <section class="card">
      <div class="card-head">
        <h2>Deliveries</h2>
        <select
          class="select"
          aria-label="State"
          value={state ?? ""}
          onChange={event => filters.set({ state: event.currentTarget.value })}
        >
          <option value="">Any state</option>
          {["pending", "delivered", "failed", "cancelled"].map(one => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </div>
      <List
        resource={resource}
        filters={filters}
        empty={
          <NothingYet
            icon="send"
            title="Nothing was sent yet"
            command={subscribeCommand(id)}
            action={<LinkButton href={to("/subscriptions", { listener: id })}>Subscribe it</LinkButton>}
          >
            A webhook receives the events of what it is subscribed to:
          </NothingYet>
        }
      >
        {rows => <DeliveryTable rows={rows} hasWebhook={false} />}
      </List>
    </section>
  );
}

function Signing({ webhook }: { webhook: Webhook }) {
  const [isAsking, setAsking] = useState(false);
  const [key, setKey] = useState<string | null>(null);
  return (
    <div class="stack">
      <Card
        title="Signing key"
        actions={
          <Button icon="refresh" onClick={() => setAsking(true)}>
            Rotate
          </Button>
        }
      >
        {key ? (
          <div class="stack tight">
            <KeyShown signingKey={key} />
          </div>
        ) : (
          <p class="muted">
            It was shown when the webhook was created. After a rotation both keys sign for 24 hours, so that
            the receiver can change over.
          </p>
        )}
      </Card>
      {!key && (
        <Card title="Verify a delivery">
          <Verify />
        </Card>
      )}
      {isAsking && (
        <Confirm
          title="Rotate the signing key?"
          action="Rotate"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            setKey((await headwater.webhooks.rotateSigningKey(webhook.id)).signing_key);
          }}
        >
          <p>The new key is shown once. The old one signs too for 24 hours.</p>
        </Confirm>
      )}
    </div>
  );
}

const numberOf = (text: string): number | null => (text.trim() === "" ? null : Number(text));

function Settings({ webhook, resource }: { webhook: Webhook; resource: Resource<Webhook> }) {
  const { route } = useLocation();
  const [url, setUrl] = useState(webhook.url);
  const [name, setName] = useState(webhook.name ?? "");
  const [description, setDescription] = useState(webhook.description ?? "");
  const [inFlight, setInFlight] = useState(String(webhook.max_in_flight ?? ""));
  const [rate, setRate] = useState(String(webhook.rate_limit_per_second ?? ""));
  const [isOrdered, setOrdered] = useState(webhook.ordered);
  const [isActive, setActive] = useState(webhook.active);
  const [isDeleting, setDeleting] = useState(false);
  const [fault, setFault] = useState<unknown>();
  const faultOf = (path: string) =>
    fault instanceof ApiError ? fault.errors.find(one => one.path === path)?.message : undefined;
  const save = async () => {
    setFault(undefined);
    const body = {
      url,
      name: name || null,
      description: description || null,
      max_in_flight: numberOf(inFlight),
      rate_limit_per_second: numberOf(rate),
      ordered: isOrdered,
      active: isActive,
    };
    try {
      resource.put(await headwater.webhooks.update(webhook.id, body));
      toast("Saved.", "good");
    } catch (error) {
      setFault(error);
    }
  };
  return (
    <Card>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          void save();
        }}
      >
        {fault !== undefined && <Notice tone="bad">{messageOf(fault)}</Notice>}
        <TextField
          label="Address"
          type="url"
          value={url}
          onInput={setUrl}
          fault={faultOf("url")}
          isRequired
        />
        <TextField label="Name" value={name} onInput={setName} fault={faultOf("name")} />
        <TextField
          label="Description"
          value={description}
          onInput={setDescription}
          fault={faultOf("description")}
        />
        <TextField
          label="Deliveries in flight at a time"
          type="number"
          value={inFlight}
          onInput={setInFlight}
          hint="1 to 100; empty for the server's default."
          fault={faultOf("max_in_flight")}
        />
        <TextField
          label="Attempts per second"
          type="number"
          value={rate}
          onInput={setRate}
          hint="1 to 10,000; empty for no limit."
          fault={faultOf("rate_limit_per_second")}
        />
        <Check label="In order, one at a time" isOn={isOrdered} onChange={setOrdered} />
        <Check label="Active" isOn={isActive} onChange={setActive} />
        {webhook.header_names.length > 0 && (
          <p class="hint">Custom headers: {webhook.header_names.join(", ")}. Their values are never shown.</p>
        )}
        <div class="spread">
          <Button type="submit" kind="primary">
            Save
          </Button>
          <Button kind="danger" icon="trash" onClick={() => setDeleting(true)}>
            Delete webhook
          </Button>
        </div>
      </form>
      {isDeleting && (
        <Confirm
          title={`Delete ${webhook.name || webhook.url}?`}
          action="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await headwater.webhooks.delete(webhook.id);
            toast(`${webhook.name || webhook.url} is deleted.`, "good");
            route(to("/webhooks"));
          }}
        >
          <p>Its subscriptions are deleted, and its pending deliveries are cancelled.</p>
        </Confirm>
      )}
    </Card>
  );
}
