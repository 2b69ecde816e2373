import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { listSessions } from "../api/calls";
import { headwater, type Schemas } from "../api/client";
import { usePaged } from "../api/paged";
import { useResource } from "../api/resource";
import { now } from "../lib/clock";
import { apiCommand } from "../lib/curl";
import { Badge, Button, Notice, Time } from "../ui/basics";
import { Confirm } from "../ui/dialog";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";
import { Thing } from "../ui/thing";
import { ACCESS, NewKey } from "./new-key";

type ApiKey = Schemas["ApiKey"];

const KINDS = { connector_url: "Connector URL", oauth: "Agent" };

export function stateOf({ revoked_at, expires_at }: ApiKey): "Valid" | "Expired" | "Revoked" {
  if (revoked_at !== null) return "Revoked";
  return expires_at !== null && expires_at * 1000 <= now.value ? "Expired" : "Valid";
}

/** The keys of the user: make one, which is shown once, or revoke one. */
export function Keys() {
  const { filters, resource, read } = usePaged((cursor, call) => headwater.apiKeys.list(cursor, call));
  const sessions = useResource(call => listSessions({ limit: 100 }, call), []);
  const currentKey = sessions.data?.data.find(one => one.current)?.key_id;
  const [isNew, setNew] = useState(false);
  const [revoked, setRevoked] = useState<ApiKey | null>(null);
  return (
    <ListScreen
      title="API keys"
      about="What programs sign in with: to read, to publish events, or to do everything that you can."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
          New key
        </Button>
      }
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet
          icon="key"
          title="No keys"
          command={apiCommand("/api_keys", { method: "POST", body: { name: "laptop" } })}
        >
          A program needs a key:
        </NothingYet>
      }
      columns={[
        {
          head: "Key",
          cell: row => (
            <>
              <span class="title">{row.name || "Without a name"}</span>
              <div class="sub mono">{row.prefix ? `${row.prefix}…` : row.id}</div>
            </>
          ),
        },
        {
          head: "State",
          cell: row => (
            <>
              <Badge tone={stateOf(row) === "Valid" ? "good" : "none"}>{stateOf(row)}</Badge>{" "}
              {row.kind !== "key" && <Badge tone="none">{KINDS[row.kind]}</Badge>}{" "}
              {row.id === currentKey && <Badge tone="accent">This session</Badge>}{" "}
              {row.ends_with_provider && <Badge tone="none">Ends with your provider sign-in</Badge>}
            </>
          ),
        },
        { head: "May", label: true, cell: row => <May row={row} /> },
        {
          head: "Expires",
          label: true,
          cell: row =>
            row.expires_at === null ? <span class="muted">never</span> : <Time seconds={row.expires_at} />,
        },
        {
          head: "Last use",
          label: true,
          cell: row =>
            row.last_used_at === null ? (
              <span class="muted">never</span>
            ) : (
              <Time seconds={row.last_used_at} />
            ),
        },
        { head: "Created", label: true, cell: row => <Time seconds={row.created_at} /> },
        {
          head: "",
          cell: row =>
            stateOf(row) === "Valid" && (
              <div class="row end">
                <Button isSmall kind="danger" onClick={() => setRevoked(row)}>
                  Revoke
                </Button>
              </div>
            ),
        },
      ]}
    >
      {isNew && (
        <NewKey
          onClose={() => {
            setNew(false);
            resource.reload();
          }}
        />
      )}
      {revoked && (
        <Confirm
          title={`Revoke ${revoked.name || revoked.prefix || "this key"}?`}
          action="Revoke"
          onClose={() => setRevoked(null)}
          onConfirm={async () => {
            await headwater.apiKeys.revoke(revoked.id);
            resource.reload();
          }}
        >
          <p>
            It can't be brought back: programs that use it get 401 from now on, and sessions that began with
            it end.
          </p>
          {revoked.id === currentKey && (
            <Notice tone="warn">It is the key of this session: you will be signed out.</Notice>
          )}
        </Confirm>
      )}
    </ListScreen>
  );
}

/** So many emitters are named in a row. */
const MAX_NAMED = 3;

/** What a key may do. */
export function May({ row: { access, emitter_ids } }: { row: ApiKey }) {
  if (emitter_ids === null) return <>{ACCESS[access]}</>;
  return (
    <>
      {ACCESS[access]}
      <div class="sub">
        to{" "}
        {emitter_ids.slice(0, MAX_NAMED).map((id, at) => (
          <Fragment key={id}>
            {at > 0 && ", "}
            <Thing id={id} />
          </Fragment>
        ))}
        {emitter_ids.length > MAX_NAMED && ` and ${emitter_ids.length - MAX_NAMED} more`}
      </div>
    </>
  );
}
