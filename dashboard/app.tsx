import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { LocationProvider, Route, Router, useLocation } from "preact-iso/router";
import { isSignedOut } from "./api/client";
import { loadMe, mayBeSignedIn, me, orgName } from "./api/session";
import { BASE, to } from "./lib/address";
import { focusMain } from "./lib/focus";
import { orgId } from "./lib/shown-account";
import { Overview } from "./screens/overview";
import { LinkButton, Page } from "./ui/basics";
import { later } from "./ui/later";
import { Shell } from "./ui/shell";
import { shortcutsWith } from "./ui/shortcuts";
import { Failed, NothingYet } from "./ui/states";

const PREFETCH_MS = 1500;

const SignIn = later(async () => (await import("./screens/sign-in")).SignIn);

/** Screens that a visit rarely begins with are one more file. */
const more = (name: keyof typeof import("./screens/more")) =>
  later(async () => (await import("./screens/more"))[name] as ComponentType);

const Shortcuts = shortcutsWith(async () => (await import("./screens/more")).Palette);

const AgentSubscription = more("AgentSubscription");
const Agents = more("Agents");
const AuditLog = more("AuditLog");
const Gallery = more("Gallery");
const Sources = more("Sources");
const Deliveries = more("Deliveries");
const Issues = more("Issues");
const Keys = more("Keys");
const Sessions = more("Sessions");
const Usage = more("Usage");
const Organization = more("Organization");
const Components = more("Components");
const ConnectAgent = more("ConnectAgent");
const Connections = more("Connections");
const NewSource = more("NewSource");
const Source = more("Source");
const Start = more("Start");
const Echo = more("Echo");
const Delivery = more("Delivery");
const DeployComponent = more("DeployComponent");
const Destination = more("Destination");
const Destinations = more("Destinations");
const EventTrace = more("EventTrace");
const Help = more("Help");
const ConnectionMap = more("ConnectionMap");
const Queues = more("Queues");
const Replays = more("Replays");
const Run = more("Run");
const Alerts = more("Alerts");
const Subscription = more("Subscription");
const Subscriptions = more("Subscriptions");
const Workflows = more("Workflows");
const Webhook = more("Webhook");
const Webhooks = more("Webhooks");

/** Decided before anything is drawn: no screen asks for what this browser can't have. */
if (location.pathname === `${BASE}/sign-in` || !mayBeSignedIn()) isSignedOut.value = true;

export const App = () => (
  <LocationProvider scope={new RegExp(`^${BASE}(/|\\?|$)`)}>
    <Door />
  </LocationProvider>
);

/** The sign-in page, or the screen of the address. */
function Door() {
  const { query } = useLocation();
  const [fault, setFault] = useState<unknown>();
  const load = () => {
    setFault(undefined);
    loadMe().catch(setFault);
  };
  useEffect(() => {
    if (!isSignedOut.value) load();
  }, []);
  useEffect(() => {
    orgId.value = query.org ?? null;
  }, [query.org]);
  if (isSignedOut.value) return <SignIn />;
  // The screen asks for what it shows at the same time as the effect above asks who is signed in.
  if (me.value === null && fault !== undefined) return <Failed error={fault} onRetry={load} />;
  const isOutside = me.value !== null && orgId.value !== null && orgName.value === undefined;
  return <Shell find={<Shortcuts />}>{isOutside ? <NoMember /> : <Screens key={orgId.value ?? ""} />}</Shell>;
}

function Screens() {
  // What is one click away, once the first screen is drawn.
  useEffect(() => {
    setTimeout(() => void import("./screens/more"), PREFETCH_MS);
  }, []);
  return (
    <Router onRouteChange={focusMain}>
      <Route path={BASE} component={Overview} />
      <Route path={`${BASE}/start`} component={Start} />
      <Route path={`${BASE}/sources`} component={Sources} />
      <Route path={`${BASE}/sources/new`} component={NewSource} />
      <Route path={`${BASE}/sources/:id/:tab?`} component={Source} />
      <Route path={`${BASE}/runs/:id`} component={Run} />
      <Route path={`${BASE}/components/:id?`} component={Components} />
      <Route path={`${BASE}/components/:id/deploy`} component={DeployComponent} />
      <Route path={`${BASE}/gallery/:key?`} component={Gallery} />
      <Route path={`${BASE}/connect`} component={ConnectAgent} />
      <Route path={`${BASE}/connections`} component={Connections} />
      <Route path={`${BASE}/workflows`} component={Workflows} />
      <Route path={`${BASE}/webhooks`} component={Webhooks} />
      <Route path={`${BASE}/webhooks/:id/:tab?`} component={Webhook} />
      <Route path={`${BASE}/destinations`} component={Destinations} />
      <Route path={`${BASE}/destinations/:id/:tab?`} component={Destination} />
      <Route path={`${BASE}/agents`} component={Agents} />
      <Route path={`${BASE}/agents/:id`} component={AgentSubscription} />
      <Route path={`${BASE}/deliveries`} component={Deliveries} />
      <Route path={`${BASE}/replays`} component={Replays} />
      <Route path={`${BASE}/deliveries/:id`} component={Delivery} />
      <Route path={`${BASE}/events/:emitter/:id`} component={EventTrace} />
      <Route path={`${BASE}/map`} component={ConnectionMap} />
      <Route path={`${BASE}/subscriptions`} component={Subscriptions} />
      <Route path={`${BASE}/subscriptions/:id`} component={Subscription} />
      <Route path={`${BASE}/issues`} component={Issues} />
      <Route path={`${BASE}/queues`} component={Queues} />
      <Route path={`${BASE}/echo/:id`} component={Echo} />
      <Route path={`${BASE}/keys`} component={Keys} />
      <Route path={`${BASE}/sessions`} component={Sessions} />
      <Route path={`${BASE}/help`} component={Help} />
      <Route path={`${BASE}/alerts`} component={Alerts} />
      <Route path={`${BASE}/audit-log`} component={AuditLog} />
      <Route path={`${BASE}/usage`} component={Usage} />
      <Route path={`${BASE}/organization`} component={Organization} />
      <Route default component={NotFound} />
    </Router>
  );
}

/** For somebody who left an organization, was removed, or followed a link to one of others. */
const NoMember = () => (
  <Page title="Organization not found">
    <section class="card">
      <NothingYet
        icon="users"
        title="You are not a member of this organization"
        action={<LinkButton href={BASE}>To your own account</LinkButton>}
      >
        It does not exist, or its owner has not invited you.
      </NothingYet>
    </section>
  </Page>
);

const NotFound = () => (
  <Page title="Page not found">
    <section class="card">
      <NothingYet
        icon="search"
        title="There is no page at this address"
        action={<LinkButton href={to("/")}>To the overview</LinkButton>}
      >
        Perhaps it was moved, or the address was cut.
      </NothingYet>
    </section>
  </Page>
);
