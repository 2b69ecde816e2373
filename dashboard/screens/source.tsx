import { useRoute } from "preact-iso/router";
import { headwater } from "../api/client";
import { useFresh } from "../api/fresh";
import { useOwnAccount } from "../api/own-account";
import { useResource } from "../api/resource";
import { updateSource } from "../api/source";
import { to } from "../lib/address";
import { Button, Page, Tabs } from "../ui/basics";
import { Loaded } from "../ui/states";
import { toast } from "../ui/toasts";
import { IdOfThing } from "./audit-parts";
import { SourceCode } from "./source-code";
import { Events, firstEvent } from "./source-events";
import { Logs } from "./source-logs";
import { SourceBadge } from "./source-parts";
import { RejectionBanner, useRejections, Verification } from "./source-rejections";
import { Runs } from "./source-runs";
import { SourceSettings } from "./source-settings";
import { SourceVersions } from "./source-versions";
import { StatsCharts } from "./stats";
import { ThingSubscriptions } from "./thing-subscriptions";

const TABS = [
  ["", "Events"],
  ["runs", "Runs"],
  ["subscriptions", "Subscriptions"],
  ["logs", "Logs & errors"],
  ["statistics", "Statistics"],
  ["verification", "Verification"],
  ["settings", "Settings"],
  ["code", "Code"],
  ["versions", "Versions"],
] as const;

export function Source() {
  const { id = "", tab = "" } = useRoute().params;
  return <SourceOf key={id} id={id} tab={tab} />;
}

function SourceOf({ id, tab }: { id: string; tab: string }) {
  const resource = useResource(call => headwater.sources.get(id, call), [id]);
  // Not below a form that is being filled in.
  useFresh(resource, { of: id, isOff: tab === "settings" || tab === "code" });
  useOwnAccount(resource.data);
  const source = resource.data;
  const rejections = useRejections(id, source !== undefined && source.verify !== null);
  const switchOn = async (active: boolean) => {
    resource.put(await updateSource({ id, active }, {}));
    toast(active ? "The source is active." : "The source is inactive.", "good");
  };
  const runNow = async () => {
    await headwater.sources.run(id);
    toast("Started; the run appears in the list of runs.", "good");
  };
  return (
    <Page
      title={source?.name ?? "Source"}
      crumbs={<a href={to("/sources")}>Sources</a>}
      badge={source && <SourceBadge source={source} />}
      about={<IdOfThing id={id} />}
      actions={
        source && (
          <>
            {source.next_tick_at_ms !== null && (
              <Button changes icon="zap" onClick={runNow}>
                Run now
              </Button>
            )}
            <Button changes icon={source.active ? "pause" : "play"} onClick={() => switchOn(!source.active)}>
              {source.active ? "Switch off" : "Switch on"}
            </Button>
          </>
        )
      }
    >
      <Loaded resource={resource}>
        {detail => (
          <>
            {detail.verify !== null && rejections.data && (
              <RejectionBanner source={detail} rejections={rejections.data} />
            )}
            <Tabs
              label="Source"
              tabs={TABS.filter(([path]) => path !== "verification" || detail.verify !== null).map(
                ([path, label]) => ({
                  label,
                  href: to(`/sources/${id}${path && `/${path}`}`),
                  isCurrent: tab === path,
                }),
              )}
            />
            {tab === "" && <Events source={detail} />}
            {tab === "runs" && <Runs source={detail} />}
            {tab === "subscriptions" && <ThingSubscriptions id={id} as="emitter" />}
            {tab === "logs" && <Logs id={id} />}
            {tab === "statistics" && <StatsCharts of={id} kind="source" command={firstEvent(detail)} />}
            {tab === "verification" && <Verification source={detail} rejections={rejections} />}
            {tab === "settings" && <SourceSettings resource={resource} />}
            {tab === "code" && <SourceCode resource={resource} />}
            {tab === "versions" && <SourceVersions resource={resource} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}
