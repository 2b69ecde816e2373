import { useState } from "preact/hooks";
import { headwater } from "../api/client";
import { lossesOfEvents } from "../api/losses";
import type { Summary } from "../api/source";
import { Select } from "../ui/form";
import { toast } from "../ui/toasts";
import { DeleteQuestion } from "./delete-question";

type Range = "one" | "older" | "all";

interface DeleteEventsProps {
  sourceId: string;
  /** The event that was looked at; none: all of them. */
  row: Summary | null;
  onClose: () => void;
  /** Called once they are accepted to be deleted, with which of the rows that are shown these are. */
  onDeleted: (isDeleted: (row: Summary) => boolean) => void;
}

const timeAndSequence = (id: string) => id.split("-").map(Number);

/** Whether an event is the other one, or older. */
function isUpTo(id: string, last: string): boolean {
  const [ms = 0, sequence = 0] = timeAndSequence(id);
  const [lastMs = 0, lastSequence = 0] = timeAndSequence(last);
  return ms < lastMs || (ms === lastMs && sequence <= lastSequence);
}

/** Asks before stored events of a source are deleted: one, those up to it, or all. */
export function DeleteEvents({ sourceId, row, onClose, onDeleted }: DeleteEventsProps) {
  const [range, setRange] = useState<Range>(row ? "one" : "all");
  const id = row?.id;
  const bounds =
    range === "all" || id === undefined ? {} : { end_id: id, ...(range === "one" && { start_id: id }) };
  return (
    <DeleteQuestion
      title={row ? "Delete stored events?" : "Delete all stored events?"}
      losses={call => lossesOfEvents(sourceId, range, call)}
      of={range}
      onClose={onClose}
      onConfirm={async () => {
        await headwater.sources.deleteEvents(sourceId, bounds);
        toast("They are deleted in a moment.", "good");
        onDeleted(
          ({ id: other }) =>
            range === "all" || (id !== undefined && (range === "one" ? other === id : isUpTo(other, id))),
        );
      }}
      above={
        row && (
          <Select
            label="Which"
            value={range}
            choices={[
              { value: "one", label: "This event" },
              { value: "older", label: "This one and all older ones" },
              { value: "all", label: "All" },
            ]}
            onChange={chosen => setRange(chosen as Range)}
          />
        )
      }
    >
      Nothing that was delivered is taken back, and what a delivery still has to send is kept until it has
      ended. A deleted event can't be replayed.
    </DeleteQuestion>
  );
}
