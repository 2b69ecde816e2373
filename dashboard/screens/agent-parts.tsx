import { useState } from "preact/hooks";
import { headwater, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { counted } from "../lib/format";
import { Button } from "../ui/basics";
import { Confirm } from "../ui/dialog";
import { toast } from "../ui/toasts";

export type AgentSubscription = Schemas["McpSubscription"];

/** What an agent is called in lists. */
export const labelOf = ({ client_name }: Pick<AgentSubscription, "client_name">): string =>
  client_name ?? "Unnamed agent";

/** What is lost, as far as it is known yet. */
function lossOf(pending: number | undefined): string {
  if (pending === undefined) return "what is pending is cancelled";
  if (pending === 0) return "no delivery is pending";
  return `${counted(pending, "pending delivery is", "pending deliveries are")} cancelled`;
}

interface DisconnectProps {
  subscription: AgentSubscription;
  onDone: () => void;
}

/** Ends a subscription of an agent, after a question. */
export function Disconnect({ subscription, onDone }: DisconnectProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button changes isSmall kind="danger" onClick={() => setAsking(true)}>
        Disconnect
      </Button>
      {isAsking && <Question subscription={subscription} onClose={() => setAsking(false)} onDone={onDone} />}
    </>
  );
}

function Question({ subscription, onClose, onDone }: DisconnectProps & { onClose: () => void }) {
  const { id } = subscription;
  const waiting = useResource(
    call => inAccount().deliveries.list({ webhook_id: id, state: "pending", limit: 1 }, call),
    [id],
  );
  const pending = waiting.data?.page_info.total_count;
  return (
    <Confirm
      title={`Disconnect ${labelOf(subscription)} from ${subscription.event_type}?`}
      action="Disconnect"
      onClose={onClose}
      onConfirm={async () => {
        await headwater.mcpSubscriptions.delete(id);
        toast("The subscription has ended.", "good");
        onDone();
      }}
    >
      <p>
        Nothing more is sent to {subscription.callback_host}; {lossOf(pending)}.
      </p>
      <p>
        The agent is not told, and may subscribe again while its API key is valid: revoke the key to keep it
        out.
      </p>
    </Confirm>
  );
}
