import { useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";
import { headwater } from "../api/client";
import { useFresh } from "../api/fresh";
import { type Resource, useResource } from "../api/resource";
import { to } from "../lib/address";
import { Copyable, Page, Tabs } from "../ui/basics";
import { Loaded } from "../ui/states";
import { DestinationFields, type StoredDestination, settingsOf, typedOf } from "./destination-fields";
import { ListenerDeliveries } from "./listener-deliveries";
import { Health } from "./listener-health";
import { ListenerSettings } from "./listener-settings";
import { TestSend } from "./test-send";
import { WebhookBadge } from "./webhook-parts";

const TABS = [
  ["", "Health"],
  ["deliveries", "Deliveries"],
  ["settings", "Settings"],
] as const;

/** One stream, queue, bucket or action. */
export function Destination() {
  const { id = "", tab = "" } = useRoute().params;
  const resource = useResource(call => headwater.destinations.get(id, call), [id]);
  useFresh(resource, { of: id });
  const destination = resource.data;
  return (
    <Page
      title={destination ? destination.name || destination.url : "Destination"}
      crumbs={<a href={to("/destinations")}>Destinations</a>}
      badge={destination && <WebhookBadge webhook={destination} />}
      about={<Copyable text={id} label="id" />}
      actions={destination && <TestSend id={id} />}
    >
      <Loaded resource={resource}>
        {detail => (
          <>
            <Tabs
              label="Destination"
              tabs={TABS.map(([path, label]) => ({
                label,
                href: to(`/destinations/${id}${path && `/${path}`}`),
                isCurrent: tab === path,
              }))}
            />
            {tab === "" && <Health listener={detail} resource={resource} />}
            {tab === "deliveries" && <ListenerDeliveries id={id} />}
            {tab === "settings" && <Settings destination={detail} resource={resource} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface SettingsProps {
  destination: StoredDestination;
  resource: Resource<StoredDestination>;
}

function Settings({ destination, resource }: SettingsProps) {
  const { kind } = destination;
  const stored = typedOf(destination);
  const secrets = (destination.action?.secrets_set ?? []) as string[];
  const [typed, setTyped] = useState(stored);
  const changes = () => {
    const settings = settingsOf(kind, typed, stored);
    return Object.keys(settings).length > 0 ? { [kind]: settings } : {};
  };
  return (
    <ListenerSettings
      listener={destination}
      resource={resource}
      changes={changes}
      onSaved={saved => setTyped(typedOf(saved))}
    >
      {faultOf => (
        <>
          <DestinationFields kind={kind} typed={typed} onChange={setTyped} faultOf={faultOf} />
          {secrets.length > 0 && <p class="hint">Set, and never shown: {secrets.join(", ")}.</p>}
        </>
      )}
    </ListenerSettings>
  );
}
