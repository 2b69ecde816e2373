import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import {
  invite,
  listInvitations,
  listMembers,
  type Member,
  removeMember,
  withdrawInvitation,
} from "../api/calls";
import { useResource } from "../api/resource";
import { loadMe, me, orgName } from "../api/session";
import { BASE } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { Badge, Button, Card, Time } from "../ui/basics";
import { Confirm } from "../ui/dialog";
import { Form, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { Loaded, NothingYet } from "../ui/states";
import { toast } from "../ui/toasts";

/** Who works with an organization, and whom its owner has invited. */
export function Members({ org }: { org: string }) {
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
  const { fault, faultOf, send } = useSending();
  const inviteUser = () =>
    send(async () => {
      await invite(org, email.trim());
      setEmail("");
      resource.reload();
    });
  return (
    <Card title="Invitations">
      <Form onSend={inviteUser}>
        <FormFault fault={fault} isShown={path => path === "email"} />
        <TextField
          label="Invite by email"
          type="email"
          value={email}
          onInput={setEmail}
          fault={faultOf("email")}
          isRequired
          hint="No mail is sent: the user sees the invitation here, after signing in."
        />
        <div>
          <Button type="submit">Invite</Button>
        </div>
      </Form>
      <Loaded resource={resource} lines={2}>
        {page =>
          page.data.length > 0 ? (
            <ul class="brief">
              {page.data.map(one => (
                <li key={one.id}>
                  <span class="grow">{one.email}</span>
                  <span class="sub">
                    ends <Time seconds={one.expires_at} />
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
