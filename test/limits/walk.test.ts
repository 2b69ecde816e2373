import { expect } from "chai";
import { setOperator } from "../../src/accounts/operators.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { snakeCase } from "../../src/limits/plan-limits.ts";
import { Invitations, Memberships } from "../../src/models/organization.ts";
import { UNBOUNDED } from "../../src/store/runs/run-queue.ts";
import { read } from "../docs/repository.ts";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";

const FREE_LIMITS =
  "components=2,sources=2,sub_minute_timers=1,webhooks=2,subscriptions=3,subscriptions_per_emitter=2," +
  "auto_subscriptions=1,streams=1,connections=1,organizations=1,workflows=2,published_events=2000,idempotency_bytes_per_hour=3000";
const CODE = `export default { name: "Walk", version: "0.0.1", props: { http: "$.interface.http" }, run() {} };`;
const TIMER = `export default { name: "Beat", version: "0.0.1", props: { timer: "$.interface.timer" }, run() {} };`;

type User = Api & { userId: string };
/** Reaches a bound and returns the status and problem type of what exceeds it by one. */
type Probe = (api: User, system: System) => Promise<string>;
type Name = keyof typeof LIMITS;

const shown = ({ status, body }: { status: number; body: { type?: string } }) =>
  status < 300 ? String(status) : `${status} ${body?.type?.split("#")[1]}`;

const source = (api: Api) => api.createSource({ component_code: CODE });
const workflow = async (api: Api): Promise<string> =>
  (await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } })).id;
const publishing = async (api: Api, body: object) =>
  shown(await api.request("POST", `/workflows/${await workflow(api)}/events`, { body }));
const hook = (api: Api) => api.createWebhook("http://127.0.0.1:1/");
const endpointOf = async (api: Api) => (await source(api)).configured_props.http?.endpoint_url ?? "";
const post = async (url: string, body: string) => {
  const response = await fetch(url, { method: "POST", body });
  return shown({ status: response.status, body: (await response.json()) as { type?: string } });
};

const PROBES: Partial<Record<Name, Probe>> = {
  async components(api) {
    const save = (n: number) =>
      api.request("POST", "/components", { body: { component_code: `${CODE}//${n}` } });
    for (const n of [1, 2]) expect((await save(n)).status).to.equal(201);
    const beyond = shown(await save(3));
    expect((await save(1)).status, "the same code again").to.be.below(300);
    return beyond;
  },
  async connections(api) {
    const connect = () =>
      api.request("POST", "/connections", { body: { app: "weather", fields: { api_key: "…" } } });
    expect((await connect()).status).to.equal(201);
    return shown(await connect());
  },
  async sources(api) {
    await source(api);
    await source(api);
    return shown(await api.request("POST", "/sources", { body: { component_code: CODE } }));
  },
  async subMinuteTimers(api) {
    const beat = (intervalSeconds: number) => ({
      component_code: TIMER,
      configured_props: { timer: { intervalSeconds } },
    });
    await api.createSource(beat(59));
    const slow = await api.createSource(beat(60));
    const faster = { configured_props: { timer: { intervalSeconds: 1 } } };
    return shown(await api.request("PUT", `/sources/${slow.id}`, { body: faster }));
  },
  async webhooks(api) {
    await hook(api);
    await hook(api);
    return shown(await api.request("POST", "/webhooks", { query: { url: "http://127.0.0.1:1/" } }));
  },
  async subscriptions(api) {
    const [a, b, first, second] = [await source(api), await source(api), await hook(api), await hook(api)];
    await api.subscribe(a.id, first.id);
    await api.subscribe(a.id, second.id);
    await api.subscribe(b.id, first.id);
    const query = { emitter_id: b.id, listener_id: second.id };
    const beyond = shown(await api.request("POST", "/subscriptions", { query }));
    await api.subscribe(b.id, first.id);
    return beyond;
  },
  async subscriptionsPerEmitter(api) {
    const [{ id }, listener] = [await source(api), await hook(api)];
    await api.subscribe(id, listener.id);
    await api.subscribe(id, listener.id, "a");
    const query = { emitter_id: id, listener_id: listener.id, event_name: "b" };
    return shown(await api.request("POST", "/subscriptions", { query }));
  },
  async autoSubscriptions(api) {
    const { id } = await hook(api);
    const subscribe = (event_name: string) =>
      api.request("POST", "/auto_subscriptions", { query: { event_name, listener_id: id } });
    expect((await subscribe("$errors")).status).to.equal(200);
    const beyond = shown(await subscribe("$logs"));
    expect((await subscribe("$errors")).status, "the same one again").to.equal(200);
    return beyond;
  },
  async workflows(api) {
    await workflow(api);
    await workflow(api);
    return shown(await api.request("POST", "/workflows", { body: { name: "Flow" } }));
  },
  async publishedEvents(api) {
    const path = `/workflows/${await workflow(api)}/events`;
    const publish = async (count: number) =>
      await api.request("POST", path, { body: { events: Array(count).fill({ event: 1 }) } });
    expect((await publish(1000)).status).to.equal(202);
    expect((await publish(1000)).status).to.equal(202);
    const beyond = await publish(1);
    expect(Number(beyond.headers.get("retry-after"))).to.be.within(1, 86_400);
    return shown(beyond);
  },
  async publishBatch(api) {
    return await publishing(api, { events: Array(LIMITS.publishBatch.value + 1).fill({ event: 1 }) });
  },
  async publishBodyBytes(api) {
    const path = `/workflows/${await workflow(api)}/events`;
    const events = Array.from({ length: 11 }, () => ({ event: "" }));
    const publish = async (bytes: number) => {
      const room = bytes - JSON.stringify({ events }).length;
      const texts = events.map((_, n) => "x".repeat(Math.floor((room + n) / events.length)));
      const body = { events: texts.map(event => ({ event })) };
      expect(JSON.stringify(body)).to.have.length(bytes);
      return shown(await api.request("POST", path, { body }));
    };
    expect(await publish(LIMITS.publishBodyBytes.value)).to.equal("202");
    return await publish(LIMITS.publishBodyBytes.value + 1);
  },
  async idempotencyBytesPerHour(api) {
    // Its form is right, so that the handler rejects it and the response is kept: of a wrong form nothing would be, and the
    // limit of requests would be met.
    const body = { url: "ftp://127.0.0.1/" };
    const send = (key: string) =>
      api.request("POST", "/webhooks", { body, headers: { "idempotency-key": key } });
    const responses = [await send("key-0")];
    for (let n = 1; responses.at(-1)?.status === 400; n += 1) responses.push(await send(`key-${n}`));
    const last = responses.at(-1) ?? expect.fail();
    expect(responses.length, "some fit").to.be.within(3, 20);
    expect(last.text).to.include("too many responses are kept");
    return shown(last);
  },
  async organizations(api) {
    const create = () => api.request("POST", "/orgs", { body: { name: "Team" } });
    expect((await create()).status).to.equal(201);
    return shown(await create());
  },
  async accountsMade(api, { worker }) {
    await setOperator(worker, api.userId, true);
    const statuses = await Promise.all(
      Array.from({ length: LIMITS.accountsMade.value }, async (_, n) => {
        const body = { email: `made${n}-${api.userId}@example.test` };
        return (await api.request("POST", "/users", { body })).status;
      }),
    );
    expect(new Set(statuses)).to.deep.equal(new Set([201]));
    return shown(await api.request("POST", "/orgs", { body: { name: "One more" } }));
  },
  async invitations(api, { worker, organization }) {
    const org = await organization(api.userId);
    const invite = (email: string) => api.request("POST", `/orgs/${org}/invitations`, { body: { email } });
    const rows = Array.from({ length: LIMITS.invitations.value - 1 }, (_, n) => ({
      _id: newId("inv"),
      org_id: org,
      email: `invited${n}@example.test`,
      invited_by: api.userId,
      created_at: 0,
      expires_at: new Date(Date.now() + 3_600_000),
      accepted_at: null,
    }));
    await Invitations(worker.mongo).insertMany(rows);
    expect((await invite("last@example.test")).status).to.equal(201);
    const beyond = shown(await invite("one-more@example.test"));
    expect((await invite("last@example.test")).status, "the same one again").to.equal(201);
    return beyond;
  },
  async members(api, { worker, organization, user }) {
    const org = await organization(api.userId);
    const accept = async () => {
      const invited = await user();
      const { email } = await invited.expect(200, "GET", "/users/me");
      const { id } = await api.expect(201, "POST", `/orgs/${org}/invitations`, { body: { email } });
      return shown(await invited.request("POST", `/users/me/invitations/${id}/accept`));
    };
    // The owner is a member, too.
    const rows = Array.from({ length: LIMITS.members.value - 2 }, (_, n) => ({
      _id: `${org}-u_${n}`,
      org_id: org,
      user_id: `u_${n}`,
      created_at: 0,
    }));
    await Memberships(worker.mongo).insertMany(rows);
    expect(await accept()).to.equal("200");
    return await accept();
  },
  async publishParsedBytes(api) {
    const dense = Array.from({ length: 700 }, () => Array(1100).fill([]));
    return await publishing(api, { events: dense.map(event => ({ event })) });
  },
  async publishedIdCharacters(api) {
    return await publishing(api, { event: 1, id: "x".repeat(LIMITS.publishedIdCharacters.value + 1) });
  },
  async streams(api, { baseUrl }) {
    const { id } = await source(api);
    const closed = new AbortController();
    const headers = { authorization: `Bearer ${api.apiKey}` };
    const first = await fetch(`${baseUrl}/sources/${id}/sse`, { headers, signal: closed.signal });
    expect(first.status).to.equal(200);
    const beyond = shown(await api.request("GET", `/sources/${id}/sse`));
    closed.abort();
    return beyond;
  },
  async apiBodyBytes(api) {
    const body = { name: "", url: "x".repeat(LIMITS.apiBodyBytes.value) };
    return shown(await api.request("POST", "/webhooks", { body }));
  },
  async componentBodyBytes(api) {
    const body = { component_code: "x".repeat(LIMITS.componentBodyBytes.value) };
    return shown(await api.request("POST", "/components", { body }));
  },
  async ingressBodyBytes(api) {
    const url = await endpointOf(api);
    expect(await post(url, "x".repeat(LIMITS.ingressBodyBytes.value))).to.equal("200");
    return await post(url, "x".repeat(LIMITS.ingressBodyBytes.value + 1));
  },
  async jsonDepth(api) {
    const depth = LIMITS.jsonDepth.value + 1;
    const response = await fetch(`${api.baseUrl}/webhooks`, {
      method: "POST",
      headers: { authorization: `Bearer ${api.apiKey}`, "content-type": "application/json" },
      body: "[".repeat(depth) + "]".repeat(depth),
    });
    return shown({ status: response.status, body: (await response.json()) as { type?: string } });
  },
  async eventParsedBytes(api) {
    const url = await endpointOf(api);
    const wide = (count: number) => `[${Array(count).fill("[]").join(",")}]`;
    const send = async (count: number) => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(url, { method: "POST", headers, body: wide(count) });
      return shown({ status: response.status, body: (await response.json()) as { type?: string } });
    };
    expect(await send(46_000)).to.equal("200");
    return await send(47_000);
  },
  async queuedRuns(api, { web }) {
    const { id, configured_props } = await source(api);
    const runs = Array.from({ length: LIMITS.queuedRuns.value - 1 }, () => `{"run_id":"${newId("run")}"}`);
    for (let at = 0; at < runs.length; at += 1000) {
      await web.runQueue.push(id, runs.slice(at, at + 1000), UNBOUNDED);
    }
    const url = configured_props.http?.endpoint_url ?? "";
    expect(await post(url, "the last that fits")).to.equal("200");
    return await post(url, "one more");
  },
};

const listener = "wh_0000000000000000";
/** Sends a webhook with custom headers. */
const withHeaders = async (api: User, headers: Record<string, string>) =>
  shown(await api.request("POST", "/webhooks", { body: { url: "http://127.0.0.1:1/", headers } }));
const withFilter = async (api: User, filter: object) => {
  const query = { emitter_id: "dc_*", listener_id: listener };
  return shown(await api.request("POST", "/subscriptions", { query, body: { filter } }));
};
const nested = (depth: number): object => (depth === 0 ? { a: 1 } : { $not: nested(depth - 1) });

Object.assign(PROBES, {
  pageRows: async api => {
    const most = LIMITS.pageRows.value;
    expect((await api.request("GET", `/users/me/sources?limit=${most}`)).status).to.equal(200);
    return shown(await api.request("GET", `/users/me/sources?limit=${most + 1}`));
  },
  filterBytes: async api => {
    const room = LIMITS.filterBytes.value - '{"a":""}'.length;
    expect(await withFilter(api, { a: "x".repeat(room) }), "the listener does not exist").to.equal(
      "404 not-found",
    );
    return await withFilter(api, { a: "x".repeat(room + 1) });
  },
  filterDepth: api => withFilter(api, nested(LIMITS.filterDepth.value + 1)),
  webhookHeaders: api =>
    withHeaders(
      api,
      Object.fromEntries(Array.from({ length: LIMITS.webhookHeaders.value + 1 }, (_, n) => [`x-${n}`, "a"])),
    ),
  webhookHeaderBytes: async api => {
    const room = LIMITS.webhookHeaderBytes.value - "x-a".length;
    expect(await withHeaders(api, { "x-a": "a".repeat(room) })).to.equal("201");
    return await withHeaders(api, { "x-a": "a".repeat(room + 1) });
  },
} satisfies Partial<Record<Name, Probe>>);

/** Bounds that another test exceeds, since that needs workers, time or a part of the system of its own. */
const PROVED_BY: Partial<Record<Name, string>> = {
  verifySecrets: "test/sources/verify.test.ts",
  verifySecretChars: "test/verify/schema.test.ts",
  verifyTextChars: "test/verify/schema.test.ts",
  verifyReadBytes: "test/verify/verify-request.test.ts",
  senderKeyBytes: "test/ingress/senders.test.ts",
  senderRequests: "test/ingress/senders.test.ts",
  senderRequestMs: "test/ingress/senders.test.ts",
  senderKeysKeptMs: "test/ingress/senders.test.ts",
  arrivedIds: "test/store/limits/arrived-ids.test.ts",
  rejectionsKept: "test/ingress/rejections.test.ts",
  rejectionsKeptMs: "test/ingress/rejections.test.ts",
  rejectingMs: "test/ingress/rejections.test.ts",
  challengeChars: "test/verify/challenges.test.ts",
  queuedBytesPerSource: "test/ingress/queue-bounds.test.ts",
  queuedBytes: "test/ingress/queue-bounds.test.ts",
  emissionBytes: "test/runs/emissions-backlog.test.ts",
  workflowEvents: "test/events/workflow-listener.test.ts",
  workflowEventBytes: "test/events/workflow-listener.test.ts",
  redisHighWaterPercent: "test/store/limits/memory-share.test.ts",
  queuedChanges: "test/queues/runs.test.ts",
  settledBytes: "test/runs/late-records.test.ts",
  lateRecords: "test/runs/late-records.test.ts",
  lateRecordBytes: "test/runs/late-records.test.ts",
  replayFailures: "test/deliveries/sweep-long.test.ts",
  runBytes: "test/sandbox/limits.test.ts",
  rememberedIds: "test/sandbox/describe.test.ts",
  templates: "test/props/templates.test.ts",
  actionWaitMs: "test/destinations/action/send.test.ts",
  actionOutputBytes: "test/destinations/action/send.test.ts",
  actionLogBytes: "test/destinations/action/send.test.ts",
  runKept: "test/runs/idle-tick.test.ts",
  idleTickKept: "test/runs/idle-tick.test.ts",
  requestsPerSecond: "test/contract/rate-limit.test.ts",
  dailyInvocations: "test/flows/quota.test.ts",
  dailyComputeMs: "test/runs/batch.test.ts",
  packageDataBytes: "test/components/package-files.test.ts",
  moduleBytes: "test/components/load-modules.test.ts",
  modulesBytes: "test/components/load-modules.test.ts",
  modules: "test/components/load-modules.test.ts",
  codeVersions: "test/sources/versions.test.ts",
  versionCommentCharacters: "test/sources/versions.test.ts",
  propValueBytes: "test/props/configure.test.ts",
  emits: "test/sandbox/call.test.ts",
  emitBytes: "test/sandbox/call.test.ts",
  logBytes: "test/sandbox/call.test.ts",
  databaseBytes: "test/sandbox/call.test.ts",
  hops: "test/events/fan-out.test.ts",
  eventsKept: "test/store/events/event-log.test.ts",
  summaryBytes: "test/events/truncate.test.ts",
  attemptsKept: "test/deliveries/manual-retry.test.ts",
  runParsedBytes: "test/sandbox/call.test.ts",
  idempotencyKeyCharacters: "test/http/idempotency.test.ts",
  idempotencyStoredMs: "test/http/idempotency.test.ts",
  idempotencyInFlightMs: "test/http/idempotency.test.ts",
  setAsideItems: "test/store/sweeps/set-aside.test.ts",
  warmMemoryPercent: "test/sandbox/warm-room.test.ts",
  sharedSources: "test/sandbox/shared.test.ts",
  savesPerAccount: "test/components/save.test.ts",
  saves: "test/fairness/slots.test.ts",
  describesPerAccount: "test/fairness/slots.test.ts",
  describes: "test/fairness/slots.test.ts",
  buildsPerAccount: "test/fairness/slots.test.ts",
  builds: "test/fairness/slots.test.ts",
  packageSetsPerAccount: "test/fairness/slots.test.ts",
  packageSets: "test/fairness/slots.test.ts",
  packageSetBytes: "test/components/npm-packages.test.ts",
  packageCacheBytes: "test/components/package-cache.test.ts",
  configuredPropsBytes: "test/props/configure.test.ts",
  descriptionBytes: "test/sandbox/describe.test.ts",
  jobStarts: "test/queues/run-worker.test.ts",
  failedJobs: "test/queues/run-worker.test.ts",
  failedJobBytes: "test/queues/run-worker.test.ts",
  eventDepth: "test/sandbox/call.test.ts",
  formFields: "test/ingress/http-event.test.ts",
  formParts: "test/ingress/http-event.test.ts",
  formPartHeaderBytes: "test/ingress/http-event.test.ts",
  unknownKeys: "test/http/authorize.test.ts",
  replyBytes: "test/queues/replies.test.ts",
  replyKeptMs: "test/queues/replies.test.ts",
  inspectionMs: "test/ops/inspect.test.ts",
  boardGuesses: "test/ops/board.test.ts",
  boardSessionMs: "test/ops/sessions.test.ts",
  attemptsInFlight: "test/deliveries/limits/in-flight.test.ts",
  attemptsInFlightOfAccount: "test/deliveries/limits/in-flight.test.ts",
  attemptsInFlightAtOrigin: "test/deliveries/limits/in-flight.test.ts",
  attemptsInFlightAtCallbackHost: "test/deliveries/limits/in-flight.test.ts",
  pageBytes: "test/components/page-bytes.test.ts",
  pageEventBytes: "test/components/page-bytes.test.ts",
  publishedBytesInFlightOfUser: "test/http/body-shares.test.ts",
  publishedBytesInFlight: "test/http/body-shares.test.ts",
  largeBodyBytes: "test/ingress/arrival.test.ts",
  largeBodies: "test/ingress/arrival.test.ts",
  requestsWaiting: "test/fairness/turns.test.ts",
  trialsPerAccount: "test/fairness/slots.test.ts",
  trials: "test/fairness/slots.test.ts",
  secretGuesses: "test/secrets/compare.test.ts",
  signInGuesses: "test/accounts/sessions/sessions.test.ts",
  signInLinkMs: "test/accounts/sessions/sessions.test.ts",
  sessions: "test/accounts/sessions/sessions.test.ts",
  sessionIdleMs: "test/accounts/sessions/sessions.test.ts",
  sessionMs: "test/accounts/sessions/sessions.test.ts",
  providerReturns: "test/accounts/openid-connect/sign-in.test.ts",
  providerSignIns: "test/accounts/openid-connect/sign-in.test.ts",
  providerReturnMs: "test/accounts/openid-connect/pending.test.ts",
  providerSessionMs: "test/accounts/openid-connect/sign-in.test.ts",
  returnPathCharacters: "test/accounts/openid-connect/sign-in.test.ts",
  invitationMs: "test/accounts/organizations.test.ts",
  apiKeys: "test/accounts/own-keys.test.ts",
  apiKeyLifeMs: "test/accounts/key-limits.test.ts",
  apiKeyEmitters: "test/accounts/key-limits.test.ts",
  deliveriesSearched: "test/deliveries/search.test.ts",
  payloadWords: "test/deliveries/search-text.test.ts",
  eventsSearched: "test/deliveries/search-text.test.ts",
  deliveriesSelected: "test/deliveries/selected.test.ts",
  replaysRunning: "test/deliveries/replays.test.ts",
  liveEmitters: "test/activity/activity.test.ts",
  rollupKept: "test/activity/rollups.test.ts",
  mcpSubscriptions: "test/mcp/events/rejections.test.ts",
  mcpSubscriptionsPerKey: "test/mcp/events/rejections.test.ts",
  mcpChallenges: "test/mcp/events/rejections.test.ts",
  mcpChallengesOfHost: "test/mcp/events/challenge.test.ts",
  mcpChallengeBytes: "test/mcp/events/rejections.test.ts",
  mcpArgumentsBytes: "test/mcp/events/rejections.test.ts",
  mcpEventTypes: "test/mcp/events/subscribe.test.ts",
  mcpEventBytes: "test/mcp/events/subscribe.test.ts",
  oauthRequests: "test/mcp/oauth/bounds.test.ts",
  oauthRegistrations: "test/mcp/oauth/bounds.test.ts",
  oauthClientBytes: "test/mcp/oauth/bounds.test.ts",
  oauthUnusedClients: "test/mcp/oauth/bounds.test.ts",
  oauthUnusedClientMs: "test/mcp/oauth/bounds.test.ts",
  oauthRequestsWaiting: "test/mcp/oauth/bounds.test.ts",
  oauthRequestCharacters: "test/mcp/oauth/bounds.test.ts",
  oauthRequestMs: "test/mcp/oauth/oauth.test.ts",
  oauthAccessTokenMs: "test/mcp/oauth/oauth.test.ts",
  oauthRefreshTokenMs: "test/mcp/oauth/oauth.test.ts",
  oauthGrantMs: "test/mcp/oauth/oauth.test.ts",
  largeBodiesWaiting: "test/ingress/arrival.test.ts",
  largeBodiesWaitingInAll: "test/ingress/arrival.test.ts",
  publicBodyBytes: "test/http/early-responses.test.ts",
  drainedBytes: "test/http/bounded-server.test.ts",
  drainMs: "test/http/bounded-server.test.ts",
  openConnections: "test/http/bounded-server.test.ts",
  headBytes: "test/http/bounded-server.test.ts",
  headersArriveMs: "test/http/bounded-server.test.ts",
  requestArrivesMs: "test/http/bounded-server.test.ts",
  requestsInProgress: "test/ingress/arrival.test.ts",
  ingressBytesOfAccount: "test/ingress/arrival.test.ts",
  ingressBytes: "test/ingress/arrival.test.ts",
  ingressPerSecond: "test/ingress/ingress.test.ts",
  runMs: "test/flows/misbehaving-code.test.ts",
  hookMs: "test/flows/hooks.test.ts",
  httpResponseMs: "test/ingress/ingress.test.ts",
  runHeapBytes: "test/flows/misbehaving-code.test.ts",
  sandboxes: "test/flows/fairness.test.ts",
  sandboxDiskBytes: "test/sandbox/limits.test.ts",
  sandboxFiles: "test/sandbox/limits.test.ts",
  sandboxConnections: "test/egress/gateway.test.ts",
  accountSharePercent: "test/sandbox/pool.test.ts",
  channelCharacters: "test/sandbox/call.test.ts",
  emitIdCharacters: "test/sandbox/call.test.ts",
  props: "test/sandbox/describe.test.ts",
  attempts: "test/workers/deliveries.test.ts",
  attemptMs: "test/workers/deliveries.test.ts",
  longestAttemptMs: "test/webhooks/delivery-settings.test.ts",
  retryWaits: "test/webhooks/delivery-settings.test.ts",
  retryWaitMs: "test/webhooks/delivery-settings.test.ts",
  retryScheduleMs: "test/webhooks/delivery-settings.test.ts",
  permits: "test/workers/deliveries-backlog.test.ts",
  urlCharacters: "test/webhooks/routes.test.ts",
  retryJobMs: "test/deliveries/attempt/next-attempt.test.ts",
  trialShownBytes: "test/components/trial.test.ts",
  connectionFields: "test/connections/sources.test.ts",
  connectionBytes: "test/connections/sources.test.ts",
  galleryIndexes: "test/gallery/indexes.test.ts",
  galleryIndexBytes: "test/gallery/indexes.test.ts",
  galleryIndexMs: "test/gallery/indexes.test.ts",
  galleryComponents: "test/gallery/indexes.test.ts",
  privateAddresses: "test/connections/private-addresses.test.ts",
  consents: "test/connections/consent.test.ts",
  consentMs: "test/connections/consent.test.ts",
  apps: "test/connections/apps.test.ts",
  optionsListed: "test/components/configure.test.ts",
  optionsMs: "test/components/configure.test.ts",
  functionBytes: "test/functions/functions.test.ts",
  functionMs: "test/functions/functions.test.ts",
  functionCallMs: "test/functions/call-function.test.ts",
  functionCallsPerAccount: "test/functions/call-function.test.ts",
  functionCalls: "test/functions/call-function.test.ts",
  functionLogBytes: "test/functions/call-function.test.ts",
  functionTestEvents: "test/functions/function-test.test.ts",
  runShown: "test/runs/read-run.test.ts",
  runsByHand: "test/runs/by-hand/by-hand.test.ts",
  additionalPropsMs: "test/components/additional-props.test.ts",
  dynamicPropsBytes: "test/components/additional-props.test.ts",
  appEventListeners: "test/connections/events.test.ts",
  eventNames: "test/connections/events.test.ts",
  eventNameChars: "test/connections/read-request.test.ts",
  dynamicProps: "test/components/additional-props.test.ts",
  dynamicPropsKept: "test/components/additional-props.test.ts",
  queueShards: "test/config.test.ts",
  liveRows: "test/store/activity.test.ts",
  alertsPerDay: "test/alerts/raise.test.ts",
  deliveryAlertsPerDay: "test/deliveries/attempt/failed-alert.test.ts",
  attentionRows: "test/attention/attention.test.ts",
  searchCharacters: "test/search/search.test.ts",
  searchHitsOfKind: "test/search/search.test.ts",
  auditEntries: "test/audit/record.test.ts",
  issuesPerListener: "test/issues/issue-counts.test.ts",
  issueQuietMs: "test/deliveries/issues/sweep.test.ts",
  failedRunsToAlert: "test/runs/source-health.test.ts",
  alertsPerMail: "test/alerts/send/send-mails.test.ts",
  mailsPerDay: "test/alerts/send/send-mails.test.ts",
  toolRows: "test/mcp/tools.test.ts",
  toolBytes: "test/mcp/result.test.ts",
  traceStateCharacters: "test/tracing/trace-context.test.ts",
  spansWaiting: "test/tracing/tracer.test.ts",
  destinationConnections: "test/egress/lasting-connections.test.ts",
  destinationIdleMs: "test/egress/lasting-connections.test.ts",
  destinationReplyBytes: "test/destinations/misbehaving-servers.test.ts",
  destinationSettingsBytes: "test/destinations/routes.test.ts",
  pulledEvents: "test/destinations/pull/send.test.ts",
  pullLagMs: "test/destinations/pull/send.test.ts",
  pulledBytes: "test/deliveries/pull/routes.test.ts",
  pullWaitMs: "test/deliveries/pull/routes.test.ts",
  pullsWaiting: "test/deliveries/pull/routes.test.ts",
};

/** Bounds that no test exceeds, and why. */
const NOT_EXCEEDED: Partial<Record<Name, string>> = {
  bundleBytes: "the files of a component are smaller, and it takes fifty megabytes of packages",
  packageDataFiles: "the rest is left out, as with their bytes",
  packageFileBytes: "it takes a package with a file of fifty megabytes",
  bundleChunkBytes: "the rest is stored all the same, which no caller sees",
  buildMemoryBytes: "it takes as much memory",
  sandboxIdleMs: "no test waits that long",
  buildProcessIdleMs: "the next build starts the process, which no caller sees",
  streamBacklogBytes: "how much a socket takes before the reader lags is the system's",
  consentReturns: "it takes as many people who return from an app at the same moment",
  logEvents: "a run's log bytes hold few more lines",
  installationsPerHour: "two hundred installations take npm minutes",
  packageTextBytes: "a cache: what no longer fits is read again, which no caller sees",
  bundleCacheBytes: "a cache: what no longer fits is read again, which no caller sees",
  additionalPropsCalls: "it takes code that makes other props at each call",
  trialMs: "no test waits that long",
  eventNamesMs: "no test waits that long",
  replayCounted: "it takes as many deliveries",
  replayKept: "MongoDB deletes by a TTL index, once a minute",
  packageFiles: "it takes as many files of a package",
  alertKept: "MongoDB deletes by a TTL index, once a minute",
  auditKept: "MongoDB deletes by a TTL index, once a minute",
  issueKept: "MongoDB deletes by a TTL index, once a minute",
  queuesShown: "it takes as many listeners of which deliveries wait",
  attentionCounted: "it takes as many failures",
  searchHits: "it takes things of seven kinds that all have the text",
  searchMs: "it takes as many things of a kind",
  deliveryKeptMs: "MongoDB deletes by a TTL index, once a minute",
  componentCacheBytes: "a cache: what no longer fits is read again, which no caller sees",
};

describe("the bounds of docs/limits.md", () => {
  let system: System;
  before(async () => {
    system = await startSystem({ FREE_LIMITS }, { workers: false });
  });
  after(() => system.stop());

  for (const name of Object.keys(LIMITS) as Name[]) {
    const [probe, file] = [PROBES[name], PROVED_BY[name]];
    if (probe) {
      it(`hold for ${name}: what exceeds it by one gets what its row says`, async () => {
        const beyond = await probe(await system.user(), system);
        expect(LIMITS[name].beyond.replaceAll("`", "")).to.include(beyond);
      });
    } else if (NOT_EXCEEDED[name] === undefined) {
      it(`hold for ${name}, in a test of its own`, () => {
        expect(file, `no test exceeds ${name}: add a probe, or the file that does`).to.be.a("string");
        const text = read(file ?? "");
        const { setting } = LIMITS[name];
        const isNamed = text.includes("limits/catalogue") && new RegExp(`\\b${name}\\b`).test(text);
        const isSet = text.includes(setting ?? `${snakeCase(name)}=`);
        expect(isNamed || isSet, `${file} names neither LIMITS.${name} nor its setting`).to.equal(true);
      });
    }
  }

  it("are shown with what is in use by GET /users/me", async () => {
    const api = await system.user();
    await source(api);
    await hook(api);
    const { limits, usage } = await api.expect(200, "GET", "/users/me");
    expect(limits).to.include({ sources: 2, webhooks: 2, queued_bytes: LIMITS.queuedBytes.value });
    expect(usage).to.include({ sources: 1, webhooks: 1, components: 1, subscriptions: 0, queued_bytes: 0 });
    for (const name of Object.keys(usage)) expect(limits).to.have.property(name);
  });
});
