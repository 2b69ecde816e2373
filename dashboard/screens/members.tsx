import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { headwater, messageOf, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { loadMe, me, orgName, shownOrg } from "../api/session";
import { BASE } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { Badge, Button, Card, Time } from "../ui/basics";
import { Confirm } from "../ui/dialog";
import { Form, Select, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { Loaded, NothingYet } from "../ui/states";
import { toast } from "../ui/toasts";

type Member = Schemas["Member"];
type Role = Member["role"];

const ROLES: { value: Role; label: string }[] = [
  { value: "viewer", label: "Viewer" },
  { value: "member", label: "Member" },
  { value: "owner", label: "Owner" },
];
const labelOf = (role: Role) => ROLES.find(({ value }) => value === role)?.label ?? role;

/** Who works with an organization and as what, and whom its owners have invited. */
export function Members({ org }: { org: string }) {
  const members = useResource(call => headwater.organizations.members(org, call), [org]);
  const [removed, setRemoved] = useState<Member | null>(null);
  const isOwner = shownOrg.value?.role === "owner";
  const isLast = (one: Member) => one.is_owner && members.data?.filter(row => row.is_owner).length === 1;
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
                  {isOwner && !isLast(one) ? (
                    <Select
                      label={`Role of ${one.username}`}
                      isBare
                      value={one.role}
                      choices={ROLES}
                      onChange={role => void changeRole(org, one, role as Role).then(members.reload)}
                    />
                  ) : (
                    <Badge tone={one.is_owner ? "accent" : "none"}>{labelOf(one.role)}</Badge>
                  )}
                  {!isLast(one) && (isOwner || one.id === me.value?.id) && (
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
      {removed && (
        <EndMembership
          org={org}
          member={removed}
          onRemoved={members.reload}
          onClose={() => setRemoved(null)}
        />
      )}
    </>
  );
}

async function changeRole(org: string, one: Member, role: Role): Promise<void> {
  try {
    await headwater.organizations.updateMember(org, one.id, { role });
    toast(`${one.username} is ${labelOf(role).toLowerCase()} now.`, "good");
    if (one.id === me.value?.id) await loadMe();
  } catch (error) {
    toast(messageOf(error), "bad");
  }
}

interface EndProps {
  org: string;
  member: Member;
  onRemoved: () => void;
  onClose: () => void;
}

function EndMembership({ org, member, onRemoved, onClose }: EndProps) {
  const { route } = useLocation();
  const isMe = member.id === me.value?.id;
  const end = async () => {
    const name = orgName.value;
    await headwater.organizations.removeMember(org, member.id);
    if (!isMe) return onRemoved();
    toast(`You have left ${name}.`, "good");
    route(`${BASE}/organization`);
    await loadMe();
  };
  return (
    <Confirm
      title={isMe ? `Leave ${orgName.value}?` : `Remove ${member.username}?`}
      action={isMe ? "Leave" : "Remove"}
      onClose={onClose}
      onConfirm={end}
    >
      <p>
        Everything of the organization stays;{" "}
        {isMe ? "you see it no longer." : `${member.email} sees it no longer.`}
      </p>
    </Confirm>
  );
}

function Invitations({ org }: { org: string }) {
  const resource = useResource(call => headwater.organizations.invitations(org, { limit: 100 }, call), [org]);
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const { fault, faultOf, send } = useSending();
  const inviteUser = () =>
    send(async () => {
      await headwater.organizations.invite(org, { email: email.trim(), role });
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
        <Select
          label="As"
          value={role}
          choices={ROLES}
          onChange={chosen => setRole(chosen as Role)}
          hint="A viewer reads. A member also changes and runs what the organization owns. An owner also decides who its members are."
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
                  <Badge>{labelOf(one.role)}</Badge>
                  <span class="sub">
                    ends <Time seconds={one.expires_at} />
                  </span>
                  <Button
                    isSmall
                    onClick={async () => {
                      await headwater.organizations.withdrawInvitation(org, one.id);
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
                body: { email: "ada@example.com", role: "member" },
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
