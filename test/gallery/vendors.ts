import { randomUUID } from "node:crypto";
import { type Received, type Receiver, type Reply, startReceiver } from "../support/receiver.ts";

/** An imitation of a vendor's API, written from the vendor's documents, with the webhooks that are registered there. */
export interface Vendor<Hook> {
  url: string;
  hooks: Hook[];
  requests: Received[];
  close(): Promise<void>;
}

export const json = (status: number, body?: unknown): Reply => ({
  status,
  headers: { "content-type": "application/json" },
  ...(body !== undefined && { body: JSON.stringify(body) }),
});

/** Is told of a request once the imitation has done what it says, before it responds. */
export type OnRequest = (request: Received) => void;

/** Starts an imitation that responds as it is told. */
export async function startVendor<Hook>(
  hooks: Hook[],
  respond: (request: Received, receiver: Receiver) => Reply,
  onRequest?: OnRequest,
): Promise<Vendor<Hook>> {
  const receiver = await startReceiver();
  receiver.script(request => {
    const reply = respond(request, receiver);
    onRequest?.(request);
    return reply;
  });
  return {
    url: new URL(receiver.url).origin,
    hooks,
    requests: receiver.requests,
    close: () => receiver.close(),
  };
}

export interface GithubHook {
  id: number;
  events: string[];
  config: { url: string; content_type: string; secret: string };
}

/** `/repos/{owner}/{repo}/hooks` of docs.github.com/en/rest/repos/webhooks. It shows no secret. */
export function startGithub(token: string, onRequest?: OnRequest): Promise<Vendor<GithubHook>> {
  const hooks: GithubHook[] = [];
  const shown = ({ config, ...hook }: GithubHook) => ({ ...hook, config: { ...config, secret: "********" } });
  return startVendor(
    hooks,
    ({ method, path, headers, raw }) => {
      if (headers.authorization !== `Bearer ${token}`) return json(401, { message: "Bad credentials" });
      if (path.startsWith("/user/repos?")) {
        return json(200, path.includes("page=1") ? [{ full_name: "octo-org/octo-repo" }] : []);
      }
      const named = /^\/repos\/octo-org\/octo-repo\/hooks(?:\/(\d+))?(?:\?.*)?$/.exec(path);
      const id = named?.[1];
      if (!named) return json(404, { message: "Not Found" });
      const found = hooks.find(one => one.id === Number(id));
      if (method === "GET") return json(200, hooks.map(shown));
      if (id !== undefined && !found) return json(404, { message: "Not Found" });
      if (method === "DELETE") {
        hooks.splice(hooks.indexOf(found as GithubHook), 1);
        return json(204);
      }
      const given = JSON.parse(raw);
      if (found) return json(200, shown(Object.assign(found, given)));
      const made: GithubHook = { id: hooks.length + 1, ...given };
      hooks.push(made);
      return json(201, shown(made));
    },
    onRequest,
  );
}

export interface StripeEndpoint {
  id: string;
  url: string;
  enabled_events: string[];
  secret: string;
}

/** `/v1/webhook_endpoints` of docs.stripe.com/api/webhook_endpoints. It shows a secret once. */
export function startStripe(key: string, onRequest?: OnRequest): Promise<Vendor<StripeEndpoint>> {
  const hooks: StripeEndpoint[] = [];
  return startVendor(
    hooks,
    ({ method, path, headers, raw }) => {
      if (headers.authorization !== `Bearer ${key}`)
        return json(401, { error: { message: "Invalid API Key provided" } });
      const named = /^\/v1\/webhook_endpoints(?:\/(\w+))?(?:\?.*)?$/.exec(path);
      const id = named?.[1];
      if (method === "GET") {
        return json(200, { object: "list", data: hooks.map(({ secret: _, ...shown }) => shown) });
      }
      const at = hooks.findIndex(one => one.id === id);
      if (method === "DELETE" && at === -1)
        return json(404, { error: { message: `No such webhook endpoint: '${id}'` } });
      if (method === "DELETE") return json(200, { id: hooks.splice(at, 1)[0]?.id, deleted: true });
      const fields = new URLSearchParams(raw);
      const made = {
        id: `we_${hooks.length + 1}${randomUUID().slice(0, 4)}`,
        url: fields.get("url") ?? "",
        enabled_events: fields.getAll("enabled_events[]"),
        secret: `whsec_${randomUUID()}`,
      };
      hooks.push(made);
      return json(200, made);
    },
    onRequest,
  );
}

export interface TelegramHook {
  url: string;
  secret_token?: string;
  allowed_updates?: string[];
}

/** `setWebhook`, `deleteWebhook` and `getWebhookInfo` of core.telegram.org/bots/api. A bot has one webhook. */
export function startTelegram(token: string, onRequest?: OnRequest): Promise<Vendor<TelegramHook>> {
  const hooks: TelegramHook[] = [{ url: "" }];
  return startVendor(
    hooks,
    ({ path, raw }) => {
      const [, given, method] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
      if (given !== token) return json(401, { ok: false, error_code: 401, description: "Unauthorized" });
      if (method === "getWebhookInfo") return json(200, { ok: true, result: { url: hooks[0]?.url } });
      hooks[0] = method === "setWebhook" ? JSON.parse(raw) : { url: "" };
      return json(200, { ok: true, result: true });
    },
    onRequest,
  );
}

export interface TypeformHook {
  form: string;
  tag: string;
  url: string;
  enabled: boolean;
  secret: string;
}

/** `/forms` and `/forms/{form_id}/webhooks/{tag}` of typeform.com/developers. A webhook is made or replaced by its tag. */
export function startTypeform(token: string, onRequest?: OnRequest): Promise<Vendor<TypeformHook>> {
  const hooks: TypeformHook[] = [];
  const missing = (what: string) => json(404, { code: "NOT_FOUND", description: `${what} not found` });
  return startVendor(
    hooks,
    ({ method, path, headers, raw }) => {
      if (headers.authorization !== `Bearer ${token}`)
        return json(403, { code: "AUTHENTICATION_FAILED", description: "Authentication failed" });
      if (path.startsWith("/forms?")) {
        const items = path.endsWith("page=1") ? [{ id: "u6nXL7", title: "Ask for an offer" }] : [];
        return json(200, { total_items: 1, page_count: 1, items });
      }
      const [, form = "", tag = ""] = /^\/forms\/(\w+)\/webhooks\/([\w-]+)$/.exec(path) ?? [];
      if (form !== "u6nXL7") return missing("form");
      const at = hooks.findIndex(one => one.tag === tag);
      if (method === "DELETE") {
        if (at === -1) return missing("webhook");
        hooks.splice(at, 1);
        return json(204);
      }
      const made: TypeformHook = { form, tag, ...JSON.parse(raw) };
      hooks.splice(at === -1 ? hooks.length : at, 1, made);
      const { secret: _, ...shown } = made;
      return json(200, shown);
    },
    onRequest,
  );
}

export interface GitlabHook {
  id: number;
  url: string;
  token: string;
  [event: `${string}_events`]: boolean;
}

/** `/projects/{id}/hooks` and `/groups/{id}/hooks` of docs.gitlab.com/api. It shows no token. */
export function startGitlab(token: string, onRequest?: OnRequest): Promise<Vendor<GitlabHook>> {
  const hooks: GitlabHook[] = [];
  const shown = ({ token: _, ...hook }: GitlabHook) => hook;
  return startVendor(
    hooks,
    ({ method, path, headers, raw }) => {
      if (headers.authorization !== `Bearer ${token}`) return json(401, { message: "401 Unauthorized" });
      const { pathname, searchParams } = new URL(path, "http://gitlab.example");
      const isFirst = searchParams.get("page") === "1";
      if (pathname === "/api/v4/projects") {
        return json(200, isFirst ? [{ id: 15, path_with_namespace: "engines/analytical" }] : []);
      }
      if (pathname === "/api/v4/groups") return json(200, isFirst ? [{ id: 4, full_path: "engines" }] : []);
      const named = /^\/api\/v4\/(?:projects\/engines%2Fanalytical|groups\/engines)\/hooks(?:\/(\d+))?$/.exec(
        pathname,
      );
      if (!named) return json(404, { message: "404 Project Not Found" });
      const found = hooks.find(one => one.id === Number(named[1]));
      if (method === "GET") return json(200, hooks.map(shown));
      if (named[1] !== undefined && !found) return json(404, { message: "404 Not found" });
      if (method === "DELETE") {
        hooks.splice(hooks.indexOf(found as GitlabHook), 1);
        return json(204);
      }
      const given = JSON.parse(raw);
      if (found) return json(200, shown(Object.assign(found, given)));
      const made: GitlabHook = { push_events: true, id: hooks.length + 1, ...given };
      hooks.push(made);
      return json(201, shown(made));
    },
    onRequest,
  );
}

export interface ShopifySubscription {
  id: string;
  topic: string;
  uri: string;
}
const SHOPIFY_TOPICS = ["ORDERS_CREATE", "ORDERS_PAID", "PRODUCTS_UPDATE"];
/** Fewer than are asked for, so that there are pages. */
const SHOPIFY_PAGE = 2;

/** The webhook subscriptions of shopify.dev/docs/api/admin-graphql, of one app in one shop. */
export function startShopify(token: string, onRequest?: OnRequest): Promise<Vendor<ShopifySubscription>> {
  const hooks: ShopifySubscription[] = [];
  let made = 0;
  const create = (topic: string, uri: string) => {
    if (hooks.some(one => one.topic === topic && one.uri === uri)) {
      return { userErrors: [{ message: "Address for this topic has already been taken" }] };
    }
    made += 1;
    hooks.push({ id: `gid://shopify/WebhookSubscription/${made}`, topic, uri });
    return { userErrors: [] };
  };
  const remove = (id: string) => {
    const at = hooks.findIndex(one => one.id === id);
    if (at === -1) return { userErrors: [{ message: "Webhook subscription does not exist" }] };
    hooks.splice(at, 1);
    return { userErrors: [] };
  };
  const page = (after: string | null) => {
    const from = after === null ? 0 : Number(after);
    const endCursor = String(from + SHOPIFY_PAGE);
    return {
      nodes: hooks.slice(from, from + SHOPIFY_PAGE),
      pageInfo: { hasNextPage: from + SHOPIFY_PAGE < hooks.length, endCursor },
    };
  };
  return startVendor(
    hooks,
    ({ path, headers, raw }) => {
      if (path !== "/admin/api/2026-10/graphql.json") return json(404, { errors: "Not Found" });
      if (headers["x-shopify-access-token"] !== token)
        return json(401, { errors: "[API] Invalid API key or access token" });
      const { query, variables } = JSON.parse(raw);
      if (query.includes("__type")) {
        return json(200, { data: { __type: { enumValues: SHOPIFY_TOPICS.map(name => ({ name })) } } });
      }
      if (query.includes("webhookSubscriptionDelete")) {
        return json(200, { data: { webhookSubscriptionDelete: remove(variables.id) } });
      }
      if (!query.includes("webhookSubscriptionCreate")) {
        return json(200, { data: { webhookSubscriptions: page(variables.after) } });
      }
      const { topic, webhookSubscription } = variables;
      if (!SHOPIFY_TOPICS.includes(topic)) {
        const message = `Variable $topic was provided invalid value: Expected "${topic}" to be one of the topics`;
        return json(200, { errors: [{ message }] });
      }
      return json(200, { data: { webhookSubscriptionCreate: create(topic, webhookSubscription.uri) } });
    },
    onRequest,
  );
}
