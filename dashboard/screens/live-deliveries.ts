import type { Page, Schemas } from "../api/client";
import { useReloadSoon } from "../api/fresh";
import { useLive } from "../api/live";
import type { Resource } from "../api/resource";
import { orgId } from "../lib/shown-account";

type Delivery = Schemas["Delivery"];

/** Changes rows that are shown as they change, and loads the list again for new ones, at most twice a second. */
export function useLiveDeliveries(
  resource: Resource<Page<Delivery>>,
  isFirstPage: boolean,
  isOurs: (delivery: Delivery) => boolean = () => true,
): void {
  const soon = useReloadSoon(resource);
  useLive(
    { deliveries: true, org: orgId.value },
    {
      onDelivery: delivery => {
        if (!isOurs(delivery)) return;
        const isShown = resource.data?.data.some(one => one.id === delivery.id);
        if (isShown || isFirstPage) soon();
      },
      onSkipped: () => soon(),
      onReady: () => soon(),
    },
  );
}
