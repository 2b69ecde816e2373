import { acceptInvitation, declineInvitation, listMyInvitations } from "../api/calls";
import type { Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { loadMe, me, orgName } from "../api/session";
import { BASE } from "../lib/address";
import { orgId } from "../lib/shown-account";
import { Button, Notice, Page } from "../ui/basics";
import { Failed, Loading, NothingYet } from "../ui/states";
import { toast } from "../ui/toasts";
import { Members } from "./members";

/** The organizations of the user with the invitations to others, or the members of the one that is shown. */
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
