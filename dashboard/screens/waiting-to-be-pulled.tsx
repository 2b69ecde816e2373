import { apiCommand } from "../lib/curl";
import { counted, exactTime } from "../lib/format";
import { Card, CopyBlock } from "../ui/basics";
import type { StoredDestination } from "./destination-fields";

/** How many events a program has not pulled yet from a destination of kind `pull`, and how it does. */
export function WaitingToBePulled({ destination: { id, pull } }: { destination: StoredDestination }) {
  if (!pull) return null;
  return (
    <Card title="Waiting to be pulled">
      <div class="stack">
        {pull.waiting === 0 ? (
          <span class="muted">Everything that was kept is acknowledged.</span>
        ) : (
          <span>
            {counted(pull.waiting, "event")}. Nothing was acknowledged since{" "}
            {exactTime((pull.waiting_since ?? 0) * 1000)}.
          </span>
        )}
        <CopyBlock label="Command" text={apiCommand(`/listeners/${id}/events?wait=30`)} />
      </div>
    </Card>
  );
}
