import { useState } from "preact/hooks";
import { headwater, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { to } from "../lib/address";
import { orgId } from "../lib/shown-account";
import { Button, Card, LinkButton, Time } from "../ui/basics";
import { Confirm } from "../ui/dialog";
import { Loaded } from "../ui/states";
import { type Column, Table } from "../ui/table";
import { May, stateOf } from "./keys";

type ApiKey = Schemas["ApiKey"];

/** A user has no more keys, listed or not. */
const MOST_KEYS = 100;

const COLUMNS: Column<ApiKey>[] = [
  {
    head: "Client",
    cell: ({ mcp_client: client }) => (
      <>
        <span class="title">{client?.name ?? "Says no name"}</span>
        {client?.version && <div class="sub">{client.version}</div>}
      </>
    ),
  },
  { head: "API key", label: true, cell: row => row.name ?? row.prefix ?? row.id },
  { head: "May", label: true, cell: row => <May row={row} /> },
  { head: "Last use", label: true, cell: row => <Time seconds={row.mcp_client?.last_used_at ?? null} /> },
  {
    head: "Expires",
    label: true,
    cell: row =>
      row.expires_at === null ? <span class="muted">never</span> : <Time seconds={row.expires_at} />,
  },
];

/** The user's valid API keys with which agents connect. */
export function AgentKeys() {
  const resource = useResource(call => headwater.apiKeys.list({ limit: MOST_KEYS }, call), []);
  const [revoked, setRevoked] = useState<ApiKey | null>(null);
  return (
    <Card
      title="API keys that agents use"
      isPadded={false}
      actions={
        <LinkButton isSmall href={to("/keys")}>
          All API keys
        </LinkButton>
      }
    >
      <Loaded resource={resource} lines={2}>
        {({ data }) => {
          const used = data.filter(key => key.mcp_client !== null && stateOf(key) === "Valid");
          if (used.length === 0) {
            return <p class="card-body muted">No agent has used one of your API keys yet.</p>;
          }
          return (
            <Table
              rows={used}
              columns={[
                ...COLUMNS,
                {
                  head: "",
                  cell: row => (
                    <div class="row end">
                      <Button isSmall kind="danger" onClick={() => setRevoked(row)}>
                        Revoke
                      </Button>
                    </div>
                  ),
                },
              ]}
            />
          );
        }}
      </Loaded>
      <p class="card-foot muted">
        Your own API keys, whichever account they are used for.
        {orgId.value !== null && " Those of other members are shown to these alone."}
      </p>
      {revoked && (
        <Confirm
          title={`Revoke the API key of ${revoked.mcp_client?.name ?? "this agent"}?`}
          action="Revoke"
          onClose={() => setRevoked(null)}
          onConfirm={async () => {
            await headwater.apiKeys.revoke(revoked.id);
            resource.reload();
          }}
        >
          <p>
            It can't be brought back: whatever uses it gets 401 from now on, sessions that began with it end,
            and nothing more is sent for the subscriptions that were made or refreshed with it. Their
            callbacks are told so once.
          </p>
        </Confirm>
      )}
    </Card>
  );
}
