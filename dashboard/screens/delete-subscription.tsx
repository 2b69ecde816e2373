import { headwater } from "../api/client";
import { lossesOfSubscription } from "../api/losses";
import { toast } from "../ui/toasts";
import { DeleteQuestion } from "./delete-question";

interface DeleteSubscriptionProps {
  id: string;
  onClose: () => void;
  onDeleted: () => void;
}

/** Asks before a subscription is deleted. */
export const DeleteSubscription = ({ id, onClose, onDeleted }: DeleteSubscriptionProps) => (
  <DeleteQuestion
    title="Delete this subscription?"
    losses={call => lossesOfSubscription(id, call)}
    onClose={onClose}
    onConfirm={async () => {
      await headwater.subscriptions.delete(id);
      toast("The subscription is deleted.", "good");
      onDeleted();
    }}
  >
    Its listener receives no further event by it. What was delivered stays so. A new subscription carries what
    is emitted from then on.
  </DeleteQuestion>
);
