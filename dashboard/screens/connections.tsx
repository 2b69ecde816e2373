import { useState } from "preact/hooks";
import { ApiError, headwater, messageOf, type Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { usePaged } from "../api/paged";
import { inAccount, me } from "../api/session";
import { apiCommand } from "../lib/curl";
import { words } from "../lib/format";
import { Badge, Button, Copyable, Notice, Time, type Tone } from "../ui/basics";
import { Confirm } from "../ui/dialog";
import { ListFilters } from "../ui/list-filters";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";
import { toast } from "../ui/toasts";
import { EditConnection } from "./edit-connection";
import { NewConnection } from "./new-connection";
import { PrivateAddresses } from "./private-addresses";

type Connection = Schemas["Connection"];

/** The accounts of apps that sources use: connect, reconnect, delete (docs/connections.md). */
export function Connections() {
  const { filters, resource, read } = usePaged(
    (cursor, call, { q }) => inAccount().connections.list({ ...cursor, ...(q && { q }) }, call),
    ["q"],
  );
  useFresh(resource);
  const { connect: wanted } = filters.query;
  const [isNew, setNew] = useState(Boolean(wanted));
  const [edited, setEdited] = useState<Connection | null>(null);
  const [deleted, setDeleted] = useState<Connection | null>(null);
  const [rotated, setRotated] = useState<Connection | null>(null);
  const [used, setUsed] = useState<Used | null>(null);
  const [isOpening, setOpening] = useState(false);
  const connect = (
    <Button changes kind="primary" icon="plus" onClick={() => setNew(true)}>
      Connect
    </Button>
  );
  return (
    <ListScreen
      title="Connections"
      about="Accounts of apps that sources use. Credentials are never shown again."
      actions={
        <>
          {me.value?.is_operator && <Button onClick={() => setOpening(true)}>Private addresses</Button>}
          {connect}
        </>
      }
      above={<ListFilters filters={filters} things="connections" placeholder="Name, app or id" />}
      resource={resource}
      read={read}
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
      columns={[
        {
          head: "Connection",
          cell: row => (
            <>
              <span class="title">{row.name}</span>
              <div class="sub mono">{row.id}</div>
              {row.private_addresses.length > 0 && (
                <div class="sub">
                  Open to its code: <span class="mono">{row.private_addresses.join(", ")}</span>
                </div>
              )}
              {row.endpoint_url && (
                <div class="row">
                  <Copyable text={row.endpoint_url} label="address for its events" />
                  <Button changes isSmall onClick={() => setRotated(row)}>
                    Replace
                  </Button>
                </div>
              )}
            </>
          ),
        },
        { head: "App", label: true, cell: row => row.app },
        { head: "Health", cell: row => <Health connection={row} /> },
        {
          head: "Token ends",
          label: true,
          cell: row => <Time seconds={row.expires_at} />,
        },
        {
          head: "",
          cell: row => (
            <div class="row end">
              {row.kind === "oauth2" && <Reconnect connection={row} />}
              <Button changes isSmall onClick={() => setEdited(row)}>
                Edit
              </Button>
              <Button changes isSmall kind="danger" onClick={() => setDeleted(row)}>
                Delete
              </Button>
            </div>
          ),
        },
      ]}
    >
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
      {edited && (
        <EditConnection
          connection={edited}
          onClose={() => {
            setEdited(null);
            resource.reload();
          }}
        />
      )}
      {isOpening && (
        <PrivateAddresses
          onClose={() => {
            setOpening(false);
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
            Its credentials can't be brought back; sources that use it are named first.{" "}
            {deleted.kind === "oauth2"
              ? "What the app granted stays valid there until it ends: take it back in the app's own settings, too."
              : "The keys stay valid at the app until they are revoked there."}
          </p>
        </Confirm>
      )}
      {rotated && (
        <Confirm
          title={`Replace the address for events of ${rotated.name}?`}
          action="Replace"
          onClose={() => setRotated(null)}
          onConfirm={async () => {
            await headwater.connections.rotateEndpoint(rotated.id).catch(showFault);
            resource.reload();
          }}
        >
          <p>
            Give the new address to the app. The old one works for 24 more hours; one that was replaced before
            it ends at once. Sources need no change.
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
    </ListScreen>
  );
}

const TONES: Record<Connection["health"], Tone> = { working: "good", failing: "warn", broken: "bad" };

/** Nothing checks a key but its app, when it is used: one that was not rejected is not said to work. */
function Health({ connection: { kind, health, error } }: { connection: Connection }) {
  const isKey = kind === "keys" && health === "working";
  return (
    <>
      {isKey ? (
        <Badge tone={error ? "bad" : "none"}>{error ? "Rejected" : "No fault known"}</Badge>
      ) : (
        <Badge tone={TONES[health]}>{words(health)}</Badge>
      )}
      {error && <div class="sub">{error.message}</div>}
    </>
  );
}

const Reconnect = ({ connection }: { connection: Connection }) => (
  <Button
    changes
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
