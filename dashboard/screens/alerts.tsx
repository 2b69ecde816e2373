import { useState } from "preact/hooks";
import { headwater, messageOf, type Schemas } from "../api/client";
import { usePaged } from "../api/paged";
import { useResource } from "../api/resource";
import { inAccount, me } from "../api/session";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { sentence, words } from "../lib/format";
import { orgId } from "../lib/shown-account";
import { Badge, Card, Time } from "../ui/basics";
import { Select } from "../ui/form";
import { ListScreen } from "../ui/list-screen";
import { Loaded, NothingYet } from "../ui/states";
import type { Column } from "../ui/table";
import { Thing } from "../ui/thing";
import { toast } from "../ui/toasts";

type Settings = Schemas["AlertSettings"];
type Tone = "good" | "warn" | "bad";

/** The parts of an alert that are shown (docs/alerts.md). */
interface Alert {
  type: string;
  subject: { id: string; name: string | null } | null;
  message: string;
}

const TONES: Record<string, Tone> = {
  "webhook.recovered": "good",
  "source.recovered": "good",
  "webhook.failing": "warn",
  "quota.80": "warn",
};

/** "Webhook failing", "Quota 80%". */
const nameOfType = (type: string): string => words(type).replace(/^Quota \d+$/, "$&%");

/** A connection has no screen of its own. */
const Subject = ({ id, name }: { id: string; name: string | null }) =>
  id.startsWith("apn_") ? (
    <a href={to("/connections")} title={id}>
      {name ?? id}
    </a>
  ) : (
    <Thing id={id} name={name} />
  );

const alertOf = ({ event }: Schemas["EventSummary"]) => event as unknown as Alert;

const COLUMNS: Column<Schemas["EventSummary"]>[] = [
  {
    head: "Alert",
    cell: row => <Badge tone={TONES[alertOf(row).type] ?? "bad"}>{nameOfType(alertOf(row).type)}</Badge>,
  },
  {
    head: "About",
    label: "about",
    cell: row => {
      const { subject } = alertOf(row);
      return subject ? <Subject {...subject} /> : <span class="muted">this account</span>;
    },
  },
  { head: "What happened", cell: row => sentence(alertOf(row).message) },
  { head: "Time", cell: row => <Time ms={row.indexed_at_ms} /> },
];

/** The last alerts of the account, and whether the user gets mails about them. */
export function Alerts() {
  // Whole: a message is longer than what a summary has of it.
  const { filters, resource } = usePaged((cursor, call) =>
    inAccount().alerts.list({ ...cursor, expand: "event" }, call),
  );
  const account = orgId.value ?? me.value?.id ?? "u_…";
  return (
    <ListScreen
      title="Alerts"
      about="What you should know of: webhooks and sources that fail, and quotas that run out."
      resource={resource}
      filters={filters}
      empty={
        <NothingYet
          icon="check"
          title="No alerts"
          command={apiCommand(`/subscriptions?emitter_id=${account}&event_name=$alerts&listener_id=wh_…`, {
            method: "POST",
          })}
        >
          A webhook receives alerts, too, with a subscription:
        </NothingYet>
      }
      columns={COLUMNS}
    >
      <MailSettings />
    </ListScreen>
  );
}

const CHOICES: { value: Settings["mail"]; label: string }[] = [
  { value: "digest", label: "At most once an hour" },
  { value: "each", label: "A mail for each alert" },
  { value: "off", label: "No mails" },
];

function MailSettings() {
  const resource = useResource(options => headwater.alerts.settings(options), []);
  const [changed, setChanged] = useState<Settings["mail"] | null>(null);
  const change = async (value: string) => {
    try {
      const body = { mail: value as Settings["mail"] };
      setChanged((await headwater.alerts.updateSettings(body)).mail);
      toast("Saved.", "good");
    } catch (error) {
      toast(messageOf(error), "bad");
    }
  };
  return (
    <Card title="Mail">
      <Loaded resource={resource}>
        {({ mail, email, is_mail_sent }) => (
          <div class="form">
            <Select
              label={`To ${email}, about your account and your organizations`}
              value={changed ?? mail}
              choices={CHOICES}
              onChange={change}
              hint={
                is_mail_sent ? undefined : "This server sends no mail: its operator has set no mail server."
              }
            />
          </div>
        )}
      </Loaded>
    </Card>
  );
}
