import { useState } from "preact/hooks";
import { headwater, type Schemas } from "../api/client";
import { to } from "../lib/address";
import { counted } from "../lib/format";
import { Button, Notice } from "../ui/basics";
import { Dialog } from "../ui/dialog";

type Delivery = Schemas["Delivery"];
type Outcome = Schemas["SelectedDeliveries"];
export type Change = "retry" | "cancel";

const deliveries = (count: number) => counted(count, "delivery", "deliveries");

interface ChangeDeliveriesProps {
  what: Change;
  /** Those that were selected when the dialog was opened, as they were shown. */
  deliveries: Delivery[];
  onDone: () => void;
  onClose: () => void;
}

/** Says what retrying or cancelling these deliveries does, does it, and says of each what became of it. */
export function ChangeDeliveries({ what, deliveries: of, onDone, onClose }: ChangeDeliveriesProps) {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const send = async () => {
    const ids = of.map(({ id }) => id);
    const done = await (what === "retry"
      ? headwater.deliveries.retrySelected(ids)
      : headwater.deliveries.cancelSelected(ids));
    setOutcome(done);
    onDone();
  };
  const pending = of.filter(({ state }) => state === "pending").length;
  return (
    <Dialog
      isQuestion
      title={`${what === "retry" ? "Retry" : "Cancel"} ${deliveries(of.length)}`}
      onClose={onClose}
    >
      {outcome ? <Result what={what} outcome={outcome} /> : <Plan what={what} of={of} pending={pending} />}
      <div class="row end">
        <Button onClick={onClose}>{outcome ? "Close" : "Back"}</Button>
        {!outcome && (
          <Button kind="danger" isDisabled={what === "cancel" && pending === 0} onClick={send}>
            {what === "retry" ? `Retry ${of.length}` : `Cancel ${pending}`}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function Plan({ what, of, pending }: { what: Change; of: Delivery[]; pending: number }) {
  const delivered = of.filter(({ state }) => state === "delivered").length;
  if (what === "retry")
    return (
      <>
        <p>Each is sent again now under its own id, and its retry schedule restarts.</p>
        {delivered > 0 && (
          <Notice tone="warn">{deliveries(delivered)} arrived already, and will be sent once more.</Notice>
        )}
      </>
    );
  return (
    <>
      <p>
        {pending === of.length
          ? "They are not attempted again, unless they are retried by hand."
          : `${pending} of them are pending, and are not attempted again unless they are retried by hand. The others have ended, and stay as they are.`}
      </p>
      <p class="sub">An attempt that is on its way goes on: its receiver may still get the event.</p>
    </>
  );
}

function Result({ what, outcome }: { what: Change; outcome: Outcome }) {
  const left = outcome.results.filter(({ result }) => result !== "done");
  return (
    <>
      <p role="status">
        {outcome.done} of {deliveries(outcome.results.length)}{" "}
        {what === "retry" ? "on the way again" : "cancelled"}.
      </p>
      {left.length > 0 && (
        <ul class="left-over">
          {left.map(({ id, reason }) => (
            <li key={id}>
              <a class="mono" href={to(`/deliveries/${id}`)}>
                {id}
              </a>
              : {reason ?? "it does not exist any more"}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
