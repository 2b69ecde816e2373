import { useState } from "preact/hooks";
import { ApiError, headwater, messageOf, type Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { useFilters } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { Badge, Button, Copyable, Notice, Page, Time } from "../ui/basics";
import { Confirm, Dialog } from "../ui/dialog";
import { Select, TextField } from "../ui/form";
import { List } from "../ui/list";
import { NothingYet } from "../ui/states";
import { toast } from "../ui/toasts";
import { ANY_APP } from "./account-field";

type Connection = Schemas["Connection"];

/** The accounts of apps that sources use: connect, reconnect, delete (docs/connections.md). */
export function Connections() {
  const filters = useFilters([]);
  const { after, before, connect: wanted } = filters.query;
  const resource = useResource(
    options => inAccount().connections.list({ limit: 50, after, before }, options),
    [after, before],
  );
  useFresh(resource);
  const [isNew, setNew] = useState(Boolean(wanted));
  const [deleted, setDeleted] = useState<Connection | null>(null);
  const [used, setUsed] = useState<Used | null>(null);
  const connect = (
    <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
      Connect
    </Button>
  );
  return (
    <Page
      title="Connections"
      about="Accounts of apps that sources use. Credentials are never shown again."
      actions={connect}
    >
      <section class="card">
        <List
          resource={resource}
          filters={filters}
          empty={
            <NothingYet
              icon="key"
              title="No connections yet"
              command={apiCommand("/connections", {
                method: "POST",
                body: { app: "weather", fields: { api_key: "…" } },
              })}
              action={connect}
            >
              A connection has an API key, or the access that an app has granted:
            </NothingYet>
          }
        >
          {rows => (
            <table class="table stacking">
              <thead>
                <tr>
                  <th>Connection</th>
                  <th>App</th>
                  <th>Health</th>
                  <th>Token ends</th>
                  <th>
                    <span class="visually-hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map(row => (
                  <tr key={row.id}>
                    <td>
                      <span class="title">{row.name}</span>
                      <div class="sub mono">{row.id}</div>
                      {row.endpoint_url && (
                        <Copyable text={row.endpoint_url} label="address for its events" />
                      )}
                    </td>
                    <td data-label="App">{row.app}</td>
                    <td>
                      <Health connection={row} />
                    </td>
                    <td data-label="Token ends">
                      <Time ms={row.expires_at === null ? null : row.expires_at * 1000} />
                    </td>
                    <td>
                      <div class="row end">
                        {row.kind === "oauth2" && <Reconnect connection={row} />}
                        <Button isSmall kind="danger" onClick={() => setDeleted(row)}>
                          Delete
                        </Button>
                      </div>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </List>
      </section>
      {isNew && (
        <NewConnection
          app={wanted}
          onClose={() => {
            setNew(false);
            filters.set({ connect: undefined });
            resource.reload();
          }}
        />
      )}
      {deleted && (
        <Confirm
          title={`Delete ${deleted.name}?`}
          action="Delete"
          onClose={() => setDeleted(null)}
          onConfirm={async () => {
            await remove(deleted, setUsed);
            resource.reload();
          }}
        >
          <p>
            What the app granted stays valid there until it ends: take it back in the app's own settings, too.
          </p>
        </Confirm>
      )}
      {used && (
        <Confirm
          title={`Delete ${used.connection.name} although it is used?`}
          action="Delete all the same"
          onClose={() => setUsed(null)}
          onConfirm={async () => {
            await headwater.connections.delete(used.connection.id, { force: true }).catch(showFault);
            resource.reload();
          }}
        >
          <Notice tone="warn">{used.message}</Notice>
          <p>Runs of these sources fail from then on.</p>
        </Confirm>
      )}
    </Page>
  );
}

function Health({ connection: { health, error } }: { connection: Connection }) {
  const tone = health === "working" ? "good" : health === "failing" ? "warn" : "bad";
  const label = health === "working" ? "Working" : health === "failing" ? "Failing" : "Broken";
  return (
    <>
      <Badge tone={tone}>{label}</Badge>
      {error && <div class="sub">{error.message}</div>}
    </>
  );
}

const Reconnect = ({ connection }: { connection: Connection }) => (
  <Button
    isSmall
    onClick={async () => {
      try {
        location.assign((await headwater.connections.reconnect(connection.id)).url);
      } catch (error) {
        toast(messageOf(error), "bad");
      }
    }}
  >
    Reconnect
  </Button>
);

/** A connection that sources use, and which ones. */
interface Used {
  connection: Connection;
  message: string;
}

const showFault = (error: unknown) => toast(messageOf(error), "bad");

/** Deletes a connection, unless sources use it: that is asked about once more. */
async function remove(connection: Connection, onUsed: (used: Used) => void): Promise<void> {
  try {
    await headwater.connections.delete(connection.id);
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) onUsed({ connection, message: error.message });
    else showFault(error);
  }
}

const KEYS = "";

function NewConnection({ app: wanted, onClose }: { app: string | undefined; onClose: () => void }) {
  const apps = useResource(options => headwater.connections.apps(options), []);
  const [chosen, setApp] = useState<string | null>(null);
  const [name, setName] = useState("");
  const [slug, setSlug] = useState(wanted === undefined || wanted === ANY_APP ? "" : wanted);
  const [field, setField] = useState("api_key");
  const [value, setValue] = useState("");
  const [fault, setFault] = useState<unknown>();
  const label = name === "" ? {} : { name };
  const asksConsent = apps.data?.data.some(one => one.slug === wanted) ?? false;
  const app = chosen ?? (wanted && asksConsent ? wanted : KEYS);
  const create = async () => {
    setFault(undefined);
    try {
      if (app !== KEYS)
        return location.assign((await inAccount().connections.connect({ app, ...label })).url);
      await inAccount().connections.create({ app: slug.trim(), ...label, fields: { [field.trim()]: value } });
      onClose();
    } catch (error) {
      setFault(error);
    }
  };
  const choices = (apps.data?.data ?? []).map(one => ({ value: one.slug, label: one.name }));
  return (
    <Dialog title="New connection" onClose={onClose}>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          void create();
        }}
      >
        {fault !== undefined && <Notice tone="bad">{messageOf(fault)}</Notice>}
        <Select
          label="Kind"
          value={app}
          choices={[{ value: KEYS, label: "A key that I have" }, ...choices]}
          onChange={setApp}
          hint="Apps that ask for consent are registered by the operator."
        />
        <TextField label="Name" value={name} onInput={setName} hint="Shown in lists; the app if empty." />
        {app === KEYS && (
          <>
            <TextField
              label="App"
              isRequired
              value={slug}
              onInput={setSlug}
              placeholder="weather"
              hint="The slug by which components name it."
            />
            <TextField label="Field" isRequired value={field} onInput={setField} hint="Its name in $auth." />
            <TextField label="Value" type="password" isRequired value={value} onInput={setValue} />
          </>
        )}
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary">
            {app === KEYS ? "Create connection" : "Continue"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
