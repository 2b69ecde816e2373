import { endSession, listSessions } from "../api/calls";
import type { Schemas } from "../api/client";
import { usePaged } from "../api/paged";
import { signOutEverywhere } from "../api/session";
import { Badge, Button, Time } from "../ui/basics";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";

/** The browsers in which the user is signed in. */
export function Sessions() {
  const { filters, resource, read } = usePaged(listSessions);
  const end = async (session: Schemas["Session"]) => {
    if (session.current) return await signOutEverywhere();
    await endSession(session.id);
    resource.reload();
  };
  return (
    <ListScreen
      title="Sessions"
      about="Browsers that are signed in to your account."
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet icon="monitor" title="No sessions" command="bin/headwater dashboard">
          This command prints a link that signs in once:
        </NothingYet>
      }
      columns={[
        {
          head: "Browser",
          cell: row => (
            <>
              <span class="title">{browserOf(row.user_agent)}</span>{" "}
              {row.current && <Badge tone="accent">This one</Badge>}
              <div class="sub" title={row.user_agent}>
                {row.id}
              </div>
            </>
          ),
        },
        { head: "Last use", label: true, cell: row => <Time seconds={row.last_used_at} /> },
        { head: "Ends", label: true, cell: row => <Time seconds={row.expires_at} /> },
        {
          head: "",
          cell: row => (
            <div class="row end">
              <Button isSmall kind="danger" onClick={() => end(row)}>
                {row.current ? "Sign out" : "End"}
              </Button>
            </div>
          ),
        },
      ]}
    />
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
