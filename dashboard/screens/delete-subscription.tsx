import { headwater } from "../api/client";
import { Confirm } from "../ui/dialog";
import { toast } from "../ui/toasts";

interface DeleteSubscriptionProps {
  id: string;
  onClose: () => void;
  onDeleted: () => void;
}

/** Asks before a subscription is deleted. */
export const DeleteSubscription = ({ id, onClose, onDeleted }: DeleteSubscriptionProps) => (
  <Confirm
    title="Delete this subscription?"
    action="Delete"
    onClose={onClose}
    onConfirm={async () => {
      await headwater.subscriptions.delete(id);
      toast("The subscription is deleted.", "good");
      onDeleted();
    }}
  >
    <p>Deliveries that wait are cancelled.</p>
  </Confirm>
);
