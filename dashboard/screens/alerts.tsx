import { useState } from "preact/hooks";
import { useAttention } from "../api/attention";
import { headwater, messageOf, type Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { useResource } from "../api/resource";
import { inAccount, me } from "../api/session";
import { useFilters } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { type Alert, problemsOf } from "../lib/problems";
import { orgId } from "../lib/shown-account";
import { Card, Page } from "../ui/basics";
import { Select } from "../ui/form";
import { Loaded, NothingMatches, NothingYet } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toasts";
import { isOpen, type Present, problemColumns } from "./alert-problems";

type Settings = Schemas["AlertSettings"];

/** So many alerts are kept, and so many issues are asked for their state. */
const KEPT = 100;

/** What the alerts of the account are about, a line a problem, and whether the user gets mails about them. */
export function Alerts() {
  const filters = useFilters(["state"]);
  const { state = "" } = filters.query;
  const attention = useAttention();
  const resource = useResource(
    async call => {
      // Whole: a message is longer than what a summary has of it.
      const [alerts, issues] = await Promise.all([
        inAccount().alerts.list({ limit: KEPT, expand: "event" }, call),
        inAccount().issues.list({ limit: KEPT }, call),
      ]);
      return {
        problems: problemsOf(alerts.data.map(({ event }) => event as unknown as Alert)),
        issues: new Map(issues.data.map(issue => [issue.id, issue.state])),
      };
    },
    [orgId.value],
  );
  useFresh(resource, { on: ["deliveries", "runs"] });
  const account = orgId.value ?? me.value?.id ?? "u_…";
  // Neither says anything without the other.
  const whole = {
    ...resource,
    data: resource.data && attention.data && { ...resource.data, attention: attention.data },
    error: resource.error ?? attention.error,
    reload: () => {
      resource.reload();
      attention.reload();
    },
  };
  return (
    <Page
      title="Alerts"
      about="What you should know of: webhooks, sources and connections that fail, and quotas that run out."
    >
      <search class="filters">
        <Select
          label="State"
          isBare
          value={state}
          choices={[
            { value: "", label: "Open and ended" },
            { value: "open", label: "Open" },
          ]}
          onChange={chosen => filters.set({ state: chosen })}
        />
      </search>
      <section class="card">
        <Loaded resource={whole} lines={6}>
          {({ problems, ...present }) => {
            if (problems.length === 0) {
              return (
                <NothingYet
                  icon="check"
                  title="No alerts"
                  command={apiCommand(
                    `/subscriptions?emitter_id=${account}&event_name=$alerts&listener_id=wh_…`,
                    { method: "POST" },
                  )}
                >
                  A webhook receives alerts, too, with a subscription:
                </NothingYet>
              );
            }
            const shown = inOrder(problems, present, state === "open");
            return shown.length > 0 ? (
              <Table columns={problemColumns(present)} rows={shown} />
            ) : (
              <NothingMatches onClear={filters.clear} />
            );
          }}
        </Loaded>
      </section>
      <MailSettings />
    </Page>
  );
}

/** Open ones first. */
function inOrder(problems: ReturnType<typeof problemsOf>, present: Present, isOpenOnly: boolean) {
  const open = problems.filter(problem => isOpen(problem, present));
  return isOpenOnly ? open : [...open, ...problems.filter(problem => !open.includes(problem))];
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
