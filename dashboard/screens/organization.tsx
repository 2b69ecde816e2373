import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { headwater, type Schemas } from "../api/client";
import { type Resource, useResource } from "../api/resource";
import { loadMe, me, orgName, shownOrg } from "../api/session";
import { BASE } from "../lib/address";
import { orgId } from "../lib/shown-account";
import { Badge, Button, Notice, Page } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Form, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { Failed, Loading, NothingYet } from "../ui/states";
import { toast } from "../ui/toasts";
import { Members } from "./members";

interface Invitations {
  data: Schemas["Invitation"][];
}

/** The organizations of the user with the invitations to others, or the members of the one that is shown. */
export function Organization() {
  const invitations = useResource<Invitations>(
    call => headwater.organizations.myInvitations({ limit: 100 }, call),
    [],
  );
  const [dialog, setDialog] = useState<"new" | "rename" | null>(null);
  const mayCreate = (me.value?.limits.organizations ?? 0) > 0 || me.value?.is_operator === true;
  return (
    <Page
      title={orgId.value ? (orgName.value ?? "Organization") : "Organizations"}
      about={orgId.value ? "Who works with this account." : "Accounts that you share with others."}
      actions={
        orgId.value
          ? shownOrg.value?.role === "owner" && <Button onClick={() => setDialog("rename")}>Rename</Button>
          : mayCreate && (
              <Button kind="primary" icon="plus" onClick={() => setDialog("new")}>
                New organization
              </Button>
            )
      }
    >
      <MyInvitations invitations={invitations} />
      {orgId.value ? (
        <Members org={orgId.value} />
      ) : (
        <MyOrganizations
          mayCreate={mayCreate}
          isLoading={invitations.isLoading && invitations.data === undefined}
        />
      )}
      {dialog && <NameDialog id={dialog === "rename" ? orgId.value : null} onClose={() => setDialog(null)} />}
    </Page>
  );
}

function MyInvitations({ invitations }: { invitations: Resource<Invitations> }) {
  const settled = async (done: PromiseLike<unknown>) => {
    await done;
    await loadMe();
    invitations.reload();
  };
  const accept = async (one: Schemas["Invitation"]) => {
    await settled(headwater.organizations.acceptInvitation(one.id));
    toast(`You are ${one.role === "owner" ? "an owner" : `a ${one.role}`} of ${one.org_name}.`, "good");
  };
  if (invitations.error !== undefined && invitations.data === undefined) {
    return (
      <section class="card">
        <Failed error={invitations.error} onRetry={invitations.reload} />
      </section>
    );
  }
  return (
    <>
      {(invitations.data?.data ?? []).map(one => (
        <Notice key={one.id}>
          <div class="spread">
            <span>
              You are invited to <strong>{one.org_name}</strong> as {one.role}.
            </span>
            <span class="row">
              <Button isSmall kind="primary" onClick={() => accept(one)}>
                Accept
              </Button>
              <Button isSmall onClick={() => settled(headwater.organizations.declineInvitation(one.id))}>
                Decline
              </Button>
            </span>
          </div>
        </Notice>
      ))}
    </>
  );
}

function MyOrganizations({ mayCreate, isLoading }: { mayCreate: boolean; isLoading: boolean }) {
  const user = me.value;
  return (
    <section class="card">
      {user === null || isLoading ? (
        <Loading />
      ) : user.orgs.length > 0 ? (
        <ul class="brief">
          {user.orgs.map(org => (
            <li key={org.id}>
              <a class="grow" href={`${BASE}/organization?org=${org.id}`}>
                {org.name}
              </a>
              <span class="sub">{org.id}</span>
              <Badge>{org.role}</Badge>
            </li>
          ))}
        </ul>
      ) : (
        <NothingYet
          icon="users"
          title="No organizations"
          command={`bin/headwater org create --name Team --owner ${user.id}`}
        >
          An organization owns sources and webhooks that its members share.{" "}
          {mayCreate ? "The operator can make one, too:" : "The operator makes one:"}
        </NothingYet>
      )}
    </section>
  );
}

/** Asks for the name of a new organization, or of the one with this id. */
function NameDialog({ id, onClose }: { id: string | null; onClose: () => void }) {
  const { route } = useLocation();
  const [name, setName] = useState(id === null ? "" : (orgName.value ?? ""));
  const { fault, faultOf, send } = useSending();
  const save = () =>
    send(async () => {
      const body = { name: name.trim() };
      const { organizations } = headwater;
      const saved = await (id === null ? organizations.create(body) : organizations.update(id, body));
      await loadMe();
      onClose();
      if (id === null) route(`${BASE}/organization?org=${saved.id}`);
    });
  return (
    <Dialog title={id === null ? "New organization" : "Rename organization"} onClose={onClose}>
      <Form onSend={save}>
        <FormFault fault={fault} isShown={path => path === "name"} />
        <TextField label="Name" value={name} onInput={setName} fault={faultOf("name")} isRequired />
        <div class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary">
            {id === null ? "Create" : "Save"}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
