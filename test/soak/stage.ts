import { createUser } from "../../src/accounts/users.ts";
import { createWorkflow } from "../../src/workflows/workflows.ts";
import type { CountingReceiver } from "../faults/counting-receiver.ts";
import type { SourceView } from "../support/api.ts";
import { Client } from "./client.ts";
import {
  COUNTING,
  DEDUPING,
  HEARD,
  LISTENING,
  PLAIN,
  RESPONDING,
  THROWING,
  THROWS_EACH,
  ticking,
  versioned,
} from "./components.ts";
import type { Installation } from "./installation.ts";
import type { ExpectedSubscription, ExpectedWebhook, Model } from "./model.ts";
import { PUBLISHED } from "./publish-over-http.ts";
import { THROWN } from "./receiver.ts";

/** A source that HTTP requests reach. */
export interface HttpSource {
  name: string;
  id: string;
  /** Path and query of its endpoint, on each web process. */
  endpoint: string;
  client: Client;
}

/** Everything that the load works with. */
export interface Stage {
  installation: Installation;
  model: Model;
  receiver: CountingReceiver;
  clients: { a: Client; b: Client; c: Client };
  sources: Record<string, HttpSource>;
  /** Ids of workflows by name. */
  workflows: Record<string, string>;
}

/** Deploys a source under a name that is also its emitter's in the model. */
export async function deploySource(
  client: Client,
  name: string,
  code: string,
): Promise<HttpSource & { view: SourceView }> {
  const view = await client.insist<SourceView>("POST", "/sources", { body: { name, component_code: code } });
  const url = view.configured_props.http?.endpoint_url;
  return { name, id: view.id, endpoint: url ? new URL(url).pathname : "", client, view };
}

interface WebhookOptions {
  body?: Record<string, unknown>;
  facts?: Partial<ExpectedWebhook>;
}

/** Creates a webhook at this path of the receiver, which is also its name in the model. */
export async function addWebhook(
  { model, receiver }: Pick<Stage, "model" | "receiver">,
  client: Client,
  path: string,
  { body = {}, facts = {} }: WebhookOptions = {},
): Promise<ExpectedWebhook> {
  const query = { url: receiver.urlOf(path) };
  const { id, signing_key } = await client.insist("POST", "/webhooks", { query, body });
  const webhook: ExpectedWebhook = { path, id, signingKey: signing_key, subscriptions: [], ...facts };
  model.webhooks.push(webhook);
  return webhook;
}

/** What is emitted right after the response may still be routed as before (docs/design.md#subscriptions). */
const ROUTED_MS = 1000;

export async function subscribe(
  client: Client,
  { id: emitterId, name }: { id: string; name: string },
  webhook: ExpectedWebhook,
  {
    channel = "",
    filter,
    matches,
  }: { channel?: string; filter?: object } & Pick<ExpectedSubscription, "matches"> = {},
): Promise<void> {
  const query = { emitter_id: emitterId, listener_id: webhook.id, event_name: channel };
  await client.insist("POST", "/subscriptions", { query, ...(filter && { body: { filter } }) });
  const subscription = { emitter: name + channel, sinceMs: Date.now() + ROUTED_MS };
  webhook.subscriptions.push({ ...subscription, ...(matches && { matches }) });
}

/** Sets up three accounts with sources, workflows and webhooks of every sort, and the model of what they do. */
export async function setStage(
  installation: Installation,
  model: Model,
  receiver: CountingReceiver,
): Promise<Stage> {
  const { platform, webs } = installation;
  const client = async (name: string) =>
    new Client(webs, await createUser(platform, { email: `${name}@soak.test`, plan: "paid" }));
  const clients = { a: await client("a"), b: await client("b"), c: await client("c") };
  const stage: Stage = { installation, model, receiver, clients, sources: {}, workflows: {} };
  await setFirstAccount(stage);
  await setListeners(stage);
  await setTimers(stage);
  await setWorkflows(stage);
  return stage;
}

/** Deploys a source whose every event goes to a webhook of its own, so that the list of its events can be checked. */
async function addListedSource(
  stage: Stage,
  client: Client,
  name: string,
  code: string,
): Promise<HttpSource> {
  const source = await deploySource(client, name, code);
  const path = `/${name}`;
  await subscribe(client, source, await addWebhook(stage, client, path));
  stage.model.lists.push({ emitter: name, sourceId: source.id, path });
  stage.sources[name] = source;
  return source;
}

async function setFirstAccount(stage: Stage): Promise<void> {
  const { a } = stage.clients;
  const plain = await addListedSource(stage, a, "plain", PLAIN);
  await addListedSource(stage, a, "responding", RESPONDING);
  await addListedSource(stage, a, "counting", COUNTING);
  await addListedSource(stage, a, "deduping", DEDUPING);
  await addListedSource(stage, a, "versioned", versioned(1));
  const add = async (
    path: string,
    options: WebhookOptions = {},
    more: Parameters<typeof subscribe>[3] = {},
  ) => subscribe(a, plain, await addWebhook(stage, a, path, options), more);
  await add("/flaky");
  await add("/limited", { body: { rate_limit_per_second: 10 } });
  await add("/ordered", { body: { ordered: true }, facts: { isOrdered: true } });
  await add("/even", {}, { filter: { isEven: true }, matches: ({ n }) => n % 2 === 0 });
  for (const name of ["plain", "responding", "counting", "versioned"]) stage.model.inSeries.add(name);
}

/** Sources that listen to sources, one that throws, one that is watched, and one whose events are deleted. */
async function setListeners(stage: Stage): Promise<void> {
  const { model } = stage;
  const { b } = stage.clients;
  const spoken = await addListedSource(stage, b, "spoken", PLAIN);
  let from = spoken;
  for (const name of ["heard", "heard-twice"]) {
    const listener = await addListedSource(stage, b, name, LISTENING);
    await b.insist("POST", "/subscriptions", { query: { emitter_id: from.id, listener_id: listener.id } });
    model.derivations.push({ from: from.name, to: name, suffix: HEARD });
    from = listener;
  }
  const throwing = await addListedSource(stage, b, "throwing", THROWING);
  await subscribe(b, throwing, await addWebhook(stage, b, "/errors"), { channel: "$errors" });
  model.derivations.push({
    from: "throwing",
    to: "throwing$errors",
    suffix: THROWN,
    matches: ({ n }) => n % THROWS_EACH === 0,
  });
  await addListedSource(stage, b, "watched", PLAIN);
  await addListedSource(stage, b, "forgotten", PLAIN);
}

const INTERVALS_S = [1, 2, 5];

async function setTimers(stage: Stage): Promise<void> {
  for (const seconds of INTERVALS_S) await addTimer(stage, `timer-${seconds}s`, seconds);
}

/** Deploys a timer with a webhook; returns its source. */
export async function addTimer(stage: Stage, name: string, seconds: number): Promise<HttpSource> {
  const { b } = stage.clients;
  const source = await deploySource(b, name, ticking(seconds));
  await subscribe(b, source, await addWebhook(stage, b, `/${name}`));
  stage.model.timers.push({ path: `/${name}`, intervalMs: seconds * 1000, sinceMs: Date.now() });
  stage.sources[name] = source;
  return source;
}

async function setWorkflows(stage: Stage): Promise<void> {
  const { c } = stage.clients;
  const { platform } = stage.installation;
  const flow = await addWebhook(stage, c, "/flow");
  const ordered = await addWebhook(stage, c, "/ordered-flow", {
    body: { ordered: true },
    facts: { isOrdered: true },
  });
  const failing = await addWebhook(stage, c, "/failing", { facts: { isFailing: true } });
  const listen = async (name: string, id: string, webhooks: ExpectedWebhook[]) => {
    stage.workflows[name] = id;
    for (const webhook of webhooks) await subscribe(c, { id, name }, webhook);
  };
  const listeners = { "flow-1": [flow, ordered], "flow-2": [flow, ordered], unlucky: [failing] };
  for (const [name, webhooks] of Object.entries(listeners)) {
    const { id } = await createWorkflow(platform, { ownerId: c.userId, name });
    await listen(name, id, webhooks);
  }
  const { id } = await c.insist("POST", "/workflows", { body: { name: PUBLISHED } });
  // An ordered webhook sends one after another, which on a busy machine is less than these.
  await listen(PUBLISHED, id, [flow]);
}
