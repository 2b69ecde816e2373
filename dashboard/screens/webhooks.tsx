import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { ApiError, http, messageOf, readData, type Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { to, useFilters } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { Button, Notice, Page, Time } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { TextField } from "../ui/form";
import { List } from "../ui/list";
import { NothingYet } from "../ui/states";
import { KeyShown } from "./webhook-key";
import { listWebhooks, WebhookBadge } from "./webhook-parts";

export function Webhooks() {
  const filters = useFilters([]);
  const { after, before, new: isNew } = filters.query;
  const resource = useResource(signal => listWebhooks({ limit: 50, after, before }, signal), [after, before]);
  useFresh(resource);
  return (
    <Page
      title="Webhooks"
      about="Addresses of yours that events are sent to: signed, and retried until they arrive."
      actions={
        <Button kind="primary" icon="plus" onClick={() => filters.set({ new: "1" })}>
          New webhook
        </Button>
      }
    >
      <section class="card">
        <List
          resource={resource}
          filters={filters}
          empty={
            <NothingYet
              icon="webhook"
              title="No webhooks yet"
              command={apiCommand("/webhooks", { method: "POST", body: { url: "https://example.com/hook" } })}
              action={
                <Button kind="primary" icon="plus" onClick={() => filters.set({ new: "1" })}>
                  New webhook
                </Button>
              }
            >
              A webhook is an address of yours that receives events. The response has the key that signs them,
              once:
            </NothingYet>
          }
        >
          {rows => (
            <table class="table stacking">
              <thead>
                <tr>
                  <th>Webhook</th>
                  <th>Health</th>
                  <th>Order and rate</th>
                  <th>Changed</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(row => (
                  <tr key={row.id}>
                    <td>
                      <a class="title" href={to(`/webhooks/${row.id}`)}>
                        {row.name || row.url}
                      </a>
                      {row.name && <div class="sub">{row.url}</div>}
                    </td>
                    <td>
                      <WebhookBadge webhook={row} />
                      {row.failing_since !== null && (
                        <div class="sub">
                          since <Time ms={row.failing_since * 1000} />
                        </div>
                      )}
                    </td>
                    <td>
                      <span class="muted">
                        {row.ordered ? "in order" : "any order"}
                        {row.rate_limit_per_second !== null && `, ${row.rate_limit_per_second}/s`}
                      </span>
                    </td>
                    <td data-label="Changed">
                      <Time ms={row.updated_at * 1000} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </List>
      </section>
      {isNew && <NewWebhook onClose={() => filters.set({ new: undefined })} />}
    </Page>
  );
}

function NewWebhook({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const [url, setUrl] = useState("");
  const [name, setName] = useState("");
  const [fault, setFault] = useState<unknown>();
  const [created, setCreated] = useState<Schemas["WebhookWithKey"] | null>(null);
  const create = async () => {
    setFault(undefined);
    try {
      const body = { url: url.trim(), ...(name && { name }) };
      setCreated(await readData(http.POST("/webhooks", { params: { query: inAccount() as never }, body })));
    } catch (error) {
      setFault(error);
    }
  };
  if (created) {
    return (
      <Dialog title="Keep this signing key" onClose={() => route(to(`/webhooks/${created.id}`))}>
        <KeyShown signingKey={created.signing_key} />
        <div class="row end">
          <Button kind="primary" onClick={() => route(to(`/webhooks/${created.id}`))}>
            I have kept it
          </Button>
        </div>
      </Dialog>
    );
  }
  const faults = fault instanceof ApiError ? fault.faults : [];
  const urlFault = faults.find(one => one.path === "url")?.message;
  return (
    <Dialog title="New webhook" onClose={onClose}>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          void create();
        }}
      >
        {fault !== undefined && !urlFault && <Notice tone="bad">{messageOf(fault)}</Notice>}
        <TextField
          label="Address"
          type="url"
          placeholder="https://example.com/hook"
          isRequired
          value={url}
          onInput={setUrl}
          fault={urlFault}
        />
        <TextField label="Name" value={name} onInput={setName} hint="Shown in lists; the address if empty." />
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary">
            Create webhook
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
