import { useState } from "preact/hooks";
import { useRoute } from "preact-iso/router";
import { headwater } from "../api/client";
import { useFresh } from "../api/fresh";
import { type Resource, useResource } from "../api/resource";
import { to } from "../lib/address";
import { useOwnAccount } from "../lib/own-account";
import { Copyable, Page, Tabs } from "../ui/basics";
import { Loaded } from "../ui/states";
import { ActionFields, type StoredAction, useActionForm } from "./action-form";
import {
  DestinationFields,
  type Kind,
  type StoredDestination,
  settingsOf,
  typedOf,
} from "./destination-fields";
import { ListenerDeliveries } from "./listener-deliveries";
import { Health } from "./listener-health";
import { faultsOf, ListenerSettings } from "./listener-settings";
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
  useOwnAccount(resource.data);
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

const Settings = (props: SettingsProps) =>
  props.destination.kind === "action" ? <ActionSettings {...props} /> : <ServerSettings {...props} />;

function ServerSettings({ destination, resource }: SettingsProps) {
  const { kind } = destination;
  const stored = typedOf(destination);
  const [typed, setTyped] = useState(stored);
  return (
    <ListenerSettings
      listener={destination}
      resource={resource}
      changes={() => fieldOf(kind, settingsOf(kind, typed, stored))}
      onSaved={saved => setTyped(typedOf(saved))}
    >
      {fault => <DestinationFields kind={kind} typed={typed} onChange={setTyped} faultOf={faultsOf(fault)} />}
    </ListenerSettings>
  );
}

function ActionSettings({ destination, resource }: SettingsProps) {
  const { id, action: settings } = destination;
  const action = useActionForm({ id, action: settings as StoredAction });
  return (
    <ListenerSettings
      listener={destination}
      resource={resource}
      changes={() => fieldOf("action", action.settings())}
      onSaved={action.saved}
    >
      {fault => <ActionFields action={action} fault={fault} />}
    </ListenerSettings>
  );
}

/** A request without settings changes none. */
const fieldOf = (kind: Kind, settings: object) =>
  Object.keys(settings).length > 0 ? { [kind]: settings } : {};
