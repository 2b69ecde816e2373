import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import {
  acceptInvitation,
  createKey,
  type DayOfUsage,
  declineInvitation,
  endSession,
  invite,
  listInvitations,
  listKeys,
  listMembers,
  listMyInvitations,
  listSessions,
  type Member,
  readDailyUsage,
  removeMember,
  revokeKey,
  withdrawInvitation,
} from "../api/calls";
import type { Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { usePaged } from "../api/paged";
import { useResource } from "../api/resource";
import { loadMe, me, orgName, signOutEverywhere } from "../api/session";
import { BASE } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { bytes, count, duration, words } from "../lib/format";
import { orgId } from "../lib/shown-account";
import { Bars } from "../ui/bars";
import { Badge, Button, Card, CopyBlock, Notice, Page, Time } from "../ui/basics";
import { Confirm, Dialog } from "../ui/dialog";
import { TextField } from "../ui/form";
import { FormFault, faultsOf } from "../ui/form-fault";
import { List } from "../ui/list";
import { Failed, Loaded, Loading, NothingYet } from "../ui/states";
import { Table } from "../ui/table";
import { Tile } from "../ui/tile";
import { toast } from "../ui/toasts";

export function Keys() {
  const { filters, resource } = usePaged(listKeys);
  const sessions = useResource(call => listSessions({ limit: 100 }, call), []);
  const currentKey = sessions.data?.data.find(one => one.current)?.key_id;
  const [isNew, setNew] = useState(false);
  const [revoked, setRevoked] = useState<Schemas["ApiKey"] | null>(null);
  return (
    <Page
      title="API keys"
      about="What programs sign in with. A key can do everything that you can."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
          New key
        </Button>
      }
    >
      <section class="card">
        <List
          resource={resource}
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
        >
          {rows => (
            <Table heads={["Key", "State", "Last use", "Created", ""]} rows={rows}>
              {row => (
                <>
                  <td>
                    <span class="title">{row.name || "Without a name"}</span>
                    <div class="sub mono">{row.prefix ? `${row.prefix}…` : row.id}</div>
                  </td>
                  <td>
                    <Badge tone={row.revoked_at === null ? "good" : "none"}>
                      {row.revoked_at === null ? "Valid" : "Revoked"}
                    </Badge>{" "}
                    {row.id === currentKey && <Badge tone="accent">This session</Badge>}{" "}
                    {row.ends_with_provider && <Badge tone="none">Ends with your provider sign-in</Badge>}
                  </td>
                  <td data-label="Last use">
                    {row.last_used_at === null ? (
                      <span class="muted">never</span>
                    ) : (
                      <Time ms={row.last_used_at * 1000} />
                    )}
                  </td>
                  <td data-label="Created">
                    <Time ms={row.created_at * 1000} />
                  </td>
                  <td>
                    {row.revoked_at === null && (
                      <div class="row end">
                        <Button isSmall kind="danger" onClick={() => setRevoked(row)}>
                          Revoke
                        </Button>
                      </div>
                    )}
                  </td>
                </>
              )}
            </Table>
          )}
        </List>
      </section>
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
            await revokeKey(revoked.id);
            resource.reload();
          }}
        >
          <p>Programs that use it get 401 from now on, and sessions that began with it end.</p>
          {revoked.id === currentKey && (
            <Notice tone="warn">It is the key of this session: you will be signed out.</Notice>
          )}
        </Confirm>
      )}
    </Page>
  );
}

function NewKey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [key, setKey] = useState("");
  const [fault, setFault] = useState<unknown>();
  const create = async () => {
    setFault(undefined);
    try {
      setKey((await createKey(name)).api_key);
    } catch (error) {
      setFault(error);
    }
  };
  return (
    <Dialog hasSecret={key !== ""} title={key ? "Keep this key" : "New API key"} onClose={onClose}>
      {key ? (
        <>
          <Notice tone="warn">It is shown only now.</Notice>
          <CopyBlock text={key} label="API key" />
          <div class="row end">
            <Button kind="primary" onClick={onClose}>
              I have kept it
            </Button>
          </div>
        </>
      ) : (
        <form
          class="form"
          onSubmit={event => {
            event.preventDefault();
            void create();
          }}
        >
          <FormFault fault={fault} isShown={path => path === "name"} />
          <TextField
            label="Name"
            value={name}
            onInput={setName}
            fault={faultsOf(fault)("name")}
            hint="What it is for, such as a laptop or a server."
          />
          <div class="row end">
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" kind="primary">
              Create key
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

export function Sessions() {
  const { filters, resource } = usePaged(listSessions);
  const end = async (session: Schemas["Session"]) => {
    if (session.current) return await signOutEverywhere();
    await endSession(session.id);
    resource.reload();
  };
  return (
    <Page title="Sessions" about="Browsers that are signed in to your account.">
      <section class="card">
        <List
          resource={resource}
          filters={filters}
          empty={
            <NothingYet icon="monitor" title="No sessions" command="bin/headwater dashboard">
              This command prints a link that signs in once:
            </NothingYet>
          }
        >
          {rows => (
            <Table heads={["Browser", "Last use", "Ends", ""]} rows={rows}>
              {row => (
                <>
                  <td>
                    <span class="title">{browserOf(row.user_agent)}</span>{" "}
                    {row.current && <Badge tone="accent">This one</Badge>}
                    <div class="sub" title={row.user_agent}>
                      {row.id}
                    </div>
                  </td>
                  <td data-label="Last use">
                    <Time ms={row.last_used_at * 1000} />
                  </td>
                  <td data-label="Ends">
                    <Time ms={row.expires_at * 1000} />
                  </td>
                  <td>
                    <div class="row end">
                      <Button isSmall kind="danger" onClick={() => end(row)}>
                        {row.current ? "Sign out" : "End"}
                      </Button>
                    </div>
                  </td>
                </>
              )}
            </Table>
          )}
        </List>
      </section>
    </Page>
  );
}

const SYSTEMS = ["Windows", "Mac OS X", "Android", "iPhone", "iPad", "Linux"];
const BROWSERS = ["Firefox", "Edg", "HeadlessChrome", "Chrome", "Safari", "curl"];

/** "Chrome on Linux", of a text that the browser sent. */
function browserOf(agent: string): string {
  const browser = BROWSERS.find(one => agent.includes(one))
    ?.replace("Edg", "Edge")
    .replace("HeadlessChrome", "Chrome");
  const system = SYSTEMS.find(one => agent.includes(one))?.replace("Mac OS X", "macOS");
  if (!browser) return agent.slice(0, 60) || "Unknown browser";
  return system ? `${browser} on ${system}` : browser;
}

export function Usage() {
  const org = orgId.value;
  const days = useResource(call => readDailyUsage(org, call), [org]);
  const reload = () => {
    days.reload();
    // What is used of the limits is read with the user.
    loadMe().catch(() => undefined);
  };
  useFresh({ ...days, reload });
  const user = me.value;
  const limits = Object.entries(user?.limits ?? {}).filter(([name]) => user?.usage[name] !== undefined);
  return (
    <Page title="Usage" about="What was used of what this account may have. A day begins at midnight UTC.">
      <Loaded resource={days}>{rows => <Days rows={rows} />}</Loaded>
      {!orgId.value && (
        <Card title="Limits of your plan">
          {user === null && <Loading />}
          <ul class="limits">
            {limits.map(([name, limit]) => (
              <Limit key={name} name={name} used={user?.usage[name] ?? 0} limit={limit} />
            ))}
            {user?.daily_invocations_quota !== undefined && (
              <Limit
                name="runs today"
                used={user.daily_invocations_used ?? 0}
                limit={user.daily_invocations_quota}
              />
            )}
            {user?.daily_compute_time_quota !== undefined && (
              <Limit
                name="compute time today"
                used={user.daily_compute_time_used ?? 0}
                limit={user.daily_compute_time_quota}
              />
            )}
          </ul>
        </Card>
      )}
    </Page>
  );
}

function Days({ rows }: { rows: DayOfUsage[] }) {
  const oldestFirst = [...rows].reverse();
  const today = rows[0];
  const chart = (field: "invocations" | "compute_ms" | "published") => oldestFirst.map(row => row[field]);
  return (
    <>
      <div class="tiles">
        <Tile label="Runs today" value={count(today?.invocations ?? 0)} />
        <Tile label="Compute time today" value={duration(today?.compute_ms ?? 0)} />
        <Tile label="Published today" value={count(today?.published ?? 0)} />
      </div>
      <Card title="Last 30 days">
        <div class="columns three">
          <figure>
            <figcaption class="muted">Runs</figcaption>
            <Bars values={chart("invocations")} label="Runs per day" />
          </figure>
          <figure>
            <figcaption class="muted">Compute time</figcaption>
            <Bars values={chart("compute_ms")} label="Compute time per day" tone="info" />
          </figure>
          <figure>
            <figcaption class="muted">Published</figcaption>
            <Bars values={chart("published")} label="Published events per day" />
          </figure>
        </div>
      </Card>
    </>
  );
}

/** Where the name alone does not say what is counted (docs/limits.md). */
const LIMIT_NAMES: Record<string, string> = {
  sub_minute_timers: "Timers under a minute",
  webhooks: "Webhooks and destinations",
  queued_bytes: "Waiting runs",
  emission_bytes: "Waiting emitted events",
  workflow_events: "Waiting for workflows",
  workflow_event_bytes: "Size of those events",
  published_events: "Events published today",
};

function Limit({ name, used, limit }: { name: string; used: number; limit: number }) {
  const share = limit === 0 ? 0 : used / limit;
  const tone = share >= 1 ? "bad" : share > 0.8 ? "warn" : "";
  const shown = name.includes("bytes") ? bytes : name.includes("compute") ? duration : count;
  return (
    <li>
      <div class="spread">
        <span>{LIMIT_NAMES[name] ?? words(name)}</span>
        <span class="muted">
          {shown(used)} of {shown(limit)}
        </span>
      </div>
      <div class={`meter ${tone}`}>
        <div style={{ width: `${Math.min(100, 100 * share)}%` }} />
      </div>
    </li>
  );
}

export function Organization() {
  const invitations = useResource(listMyInvitations, []);
  const user = me.value;
  const accept = async (one: Schemas["Invitation"]) => {
    await acceptInvitation(one.id);
    await loadMe();
    invitations.reload();
    toast(`You are a member of ${one.org_name}.`, "good");
  };
  const waiting = invitations.data?.data ?? [];
  return (
    <Page
      title={orgId.value ? (orgName.value ?? "Organization") : "Organizations"}
      about={orgId.value ? "Who works with this account." : "Accounts that you share with others."}
    >
      {invitations.error !== undefined && invitations.data === undefined && (
        <section class="card">
          <Failed error={invitations.error} onRetry={invitations.reload} />
        </section>
      )}
      {waiting.map(one => (
        <Notice key={one.id}>
          <div class="spread">
            <span>
              You are invited to <strong>{one.org_name}</strong>.
            </span>
            <span class="row">
              <Button isSmall kind="primary" onClick={() => accept(one)}>
                Accept
              </Button>
              <Button
                isSmall
                onClick={async () => {
                  await declineInvitation(one.id);
                  invitations.reload();
                }}
              >
                Decline
              </Button>
            </span>
          </div>
        </Notice>
      ))}
      {orgId.value ? (
        <Members org={orgId.value} />
      ) : (
        <section class="card">
          {user === null || (invitations.isLoading && invitations.data === undefined) ? (
            <Loading />
          ) : user.orgs.length > 0 ? (
            <ul class="brief">
              {user.orgs.map(org => (
                <li key={org.id}>
                  <a href={`${BASE}/organization?org=${org.id}`}>{org.name}</a>
                  <span class="sub">{org.id}</span>
                </li>
              ))}
            </ul>
          ) : (
            <NothingYet
              icon="users"
              title="No organizations"
              command={`bin/headwater org create --name Team --owner ${user.id}`}
            >
              An organization owns sources and webhooks that its members share. The operator makes one:
            </NothingYet>
          )}
        </section>
      )}
    </Page>
  );
}

function Members({ org }: { org: string }) {
  const { route } = useLocation();
  const members = useResource(call => listMembers(org, call), [org]);
  const isOwner = members.data?.some(one => one.is_owner && one.id === me.value?.id) ?? false;
  const [removed, setRemoved] = useState<Member | null>(null);
  return (
    <>
      <Card title="Members" isPadded={false}>
        <Loaded resource={members}>
          {rows => (
            <ul class="brief">
              {rows.map(one => (
                <li key={one.id}>
                  <span class="grow">
                    <strong>{one.username}</strong> <span class="sub">{one.email}</span>
                  </span>
                  {one.is_owner && <Badge tone="accent">Owner</Badge>}
                  {!one.is_owner && (isOwner || one.id === me.value?.id) && (
                    <Button isSmall kind="danger" onClick={() => setRemoved(one)}>
                      {one.id === me.value?.id ? "Leave" : "Remove"}
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      </Card>
      {isOwner && <Invitations org={org} />}
      {removed && removed.id === me.value?.id && (
        <Confirm
          title={`Leave ${orgName.value}?`}
          action="Leave"
          onClose={() => setRemoved(null)}
          onConfirm={async () => {
            await removeMember(org, removed.id);
            toast(`You have left ${orgName.value}.`, "good");
            route(`${BASE}/organization`);
            await loadMe();
          }}
        >
          <p>Everything of the organization stays; you see it no longer.</p>
        </Confirm>
      )}
      {removed && removed.id !== me.value?.id && (
        <Confirm
          title={`Remove ${removed.username}?`}
          action="Remove"
          onClose={() => setRemoved(null)}
          onConfirm={async () => {
            await removeMember(org, removed.id);
            members.reload();
          }}
        >
          <p>Everything of the organization stays; {removed.email} sees it no longer.</p>
        </Confirm>
      )}
    </>
  );
}

function Invitations({ org }: { org: string }) {
  const resource = useResource(call => listInvitations(org, call), [org]);
  const [email, setEmail] = useState("");
  const [fault, setFault] = useState<unknown>();
  const send = async () => {
    setFault(undefined);
    try {
      await invite(org, email.trim());
      setEmail("");
      resource.reload();
    } catch (error) {
      setFault(error);
    }
  };
  return (
    <Card title="Invitations">
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          void send();
        }}
      >
        <FormFault fault={fault} isShown={path => path === "email"} />
        <TextField
          label="Invite by email"
          type="email"
          value={email}
          onInput={setEmail}
          fault={faultsOf(fault)("email")}
          isRequired
          hint="No mail is sent: the user sees the invitation here, after signing in."
        />
        <div>
          <Button type="submit">Invite</Button>
        </div>
      </form>
      <Loaded resource={resource} lines={2}>
        {page =>
          page.data.length > 0 ? (
            <ul class="brief">
              {page.data.map(one => (
                <li key={one.id}>
                  <span class="grow">{one.email}</span>
                  <span class="sub">
                    ends <Time ms={one.expires_at * 1000} />
                  </span>
                  <Button
                    isSmall
                    onClick={async () => {
                      await withdrawInvitation(org, one.id);
                      resource.reload();
                    }}
                  >
                    Withdraw
                  </Button>
                </li>
              ))}
            </ul>
          ) : (
            <NothingYet
              icon="users"
              title="Nobody is invited"
              command={apiCommand(`/orgs/${org}/invitations`, {
                method: "POST",
                body: { email: "ada@example.com" },
              })}
            >
              This command invites somebody, as the form above does:
            </NothingYet>
          )
        }
      </Loaded>
    </Card>
  );
}
