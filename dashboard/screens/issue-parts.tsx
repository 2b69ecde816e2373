import { useState } from "preact/hooks";
import { headwater, type Schemas } from "../api/client";
import { to } from "../lib/address";
import { count, counted } from "../lib/format";
import { Badge, Button, LinkButton, type Tone } from "../ui/basics";
import { Confirm } from "../ui/dialog";
import { toast } from "../ui/toasts";

type Issue = Schemas["Issue"];

const TONES: Record<Issue["state"], Tone> = { open: "bad", acknowledged: "warn", resolved: "good" };

export const IssueState = ({ state }: { state: Issue["state"] }) => (
  <Badge tone={TONES[state]}>{state.charAt(0).toUpperCase() + state.slice(1)}</Badge>
);

const CAUSES: Record<string, string> = {
  timeout: "Timed out",
  connect: "No connection",
  dns: "Name not found",
  tls: "TLS failed",
  reset: "Connection closed",
  protocol: "No valid response",
  "blocked-address": "Address is blocked",
  rejected: "Rejected",
  function: "Its function failed",
  other: "Other errors",
};

/** A cause in words: "Status 503", "Timed out". */
export const causeInWords = (cause: string): string => {
  const [kind, detail] = cause.split(/:(.*)/);
  if (kind === "status") return `Status ${detail}`;
  if (kind === "action") return `Action failed: ${detail}`;
  return CAUSES[cause] ?? cause;
};

/** The screen with the deliveries whose last failed attempt was of an issue. */
export const affectedBy = (id: string): string => to("/deliveries", { issue_id: id });

interface ActionsProps {
  issue: Pick<Issue, "id" | "state">;
  /** Called with the issue as it is then. */
  onChange: (issue?: Issue) => void;
}

/** What can be done about an issue. */
export function IssueActions({ issue, onChange }: ActionsProps) {
  const { id, state } = issue;
  const [failed, setFailed] = useState<number | null>(null);
  const put = async (next: Issue["state"]) => onChange(await headwater.issues.update(id, { state: next }));
  const ask = async () => {
    const { failed_deliveries } = await headwater.issues.get(id);
    if (failed_deliveries === 0)
      toast("No delivery has failed for good: those that wait are retried by themselves.");
    else setFailed(failed_deliveries);
  };
  return (
    <span class="row">
      {state === "open" && (
        <Button changes isSmall onClick={() => put("acknowledged")}>
          Acknowledge
        </Button>
      )}
      {state !== "resolved" && (
        <Button changes isSmall onClick={() => put("resolved")}>
          Resolve
        </Button>
      )}
      <Button changes isSmall icon="refresh" onClick={ask}>
        Retry all …
      </Button>
      <LinkButton isSmall href={affectedBy(id)}>
        Deliveries
      </LinkButton>
      {failed !== null && (
        <Confirm
          title="Retry what failed"
          action={`Retry ${count(failed)}`}
          onClose={() => setFailed(null)}
          onConfirm={async () => {
            await headwater.issues.retry(id);
            toast("They are on their way.", "good");
            onChange();
          }}
        >
          <p>
            {counted(failed, "delivery", "deliveries")} that failed for good, and still have their event, are
            sent again at the pace of the listener.
          </p>
        </Confirm>
      )}
    </span>
  );
}
