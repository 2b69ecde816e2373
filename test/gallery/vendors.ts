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
