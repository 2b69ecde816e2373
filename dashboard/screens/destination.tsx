import { useRoute } from "preact-iso/router";
import { headwater } from "../api/client";
import { type Edits, useEdits } from "../api/edits";
import { useFresh } from "../api/fresh";
import { useOwnAccount } from "../api/own-account";
import { type Resource, useResource } from "../api/resource";
import { to } from "../lib/address";
import { Page, Tabs } from "../ui/basics";
import { faultsOf } from "../ui/form-fault";
import { Loaded } from "../ui/states";
import { ActionFields, type StoredAction, useActionForm } from "./action-form";
import { IdOfThing } from "./audit-parts";
import {
  DestinationFields,
  type Kind,
  type StoredDestination,
  settingLabel,
  settingsOf,
  type Typed,
  typedOf,
} from "./destination-fields";
import { ListenerDeliveries } from "./listener-deliveries";
import { Health } from "./listener-health";
import { ListenerSettings } from "./listener-settings";
import { TestSend } from "./test-send";
import { ThingSubscriptions } from "./thing-subscriptions";
import { WaitingToBePulled } from "./waiting-to-be-pulled";
import { WebhookBadge } from "./webhook-badge";

const TABS = [
  ["", "Health"],
  ["deliveries", "Deliveries"],
  ["subscriptions", "Subscriptions"],
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
      about={<IdOfThing id={id} />}
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
            {tab === "" && (
              <div class="stack">
                <WaitingToBePulled destination={detail} />
                <Health listener={detail} resource={resource} />
              </div>
            )}
            {tab === "deliveries" && <ListenerDeliveries id={id} />}
            {tab === "subscriptions" && <ThingSubscriptions id={id} as="listener" />}
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
  const settings = useEdits<StoredDestination>(destination, typedOf);
  return (
    <ListenerSettings
      listener={destination}
      resource={resource}
      parts={[settings]}
      changes={() => fieldOf(kind, settingsOf(kind, settings.changes as Typed))}
      labelOf={name => settingLabel(kind, name)}
      isShown={path => path.startsWith(`${kind}.`)}
    >
      {fault => (
        <DestinationFields
          kind={kind}
          typed={settings.values as Typed}
          onChange={settings.set}
          faultOf={faultsOf(fault)}
        />
      )}
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
      parts={action.edits as Edits<StoredDestination>[]}
      changes={() => fieldOf("action", action.settings())}
      labelOf={name => action.labelOf(name)}
      isShown={path => action.isShown(path)}
    >
      {fault => <ActionFields action={action} fault={fault} />}
    </ListenerSettings>
  );
}

/** A request without settings changes none. */
const fieldOf = (kind: Kind, settings: object) =>
  Object.keys(settings).length > 0 ? { [kind]: settings } : {};
