import { setApp } from "../../src/connections/apps/apps.ts";
import { startOpenIdProvider } from "../support/openid-provider.ts";
import { startReceiver } from "../support/receiver.ts";
import { startSystem } from "../support/system.ts";
import type { Owner, World } from "./things.ts";

/** One user of a test has hundreds of everything. */
const FREE_LIMITS = [
  ...["components", "sources", "sub_minute_timers", "webhooks", "auto_subscriptions"],
  ...["subscriptions", "subscriptions_per_emitter", "organizations"],
]
  .map(name => `${name}=10000`)
  .join();

/** Starts a system without a rate limit, a receiver for webhooks, and a provider to sign in with. */
export async function openWorld(
  options: { workers?: boolean; env?: Record<string, string> } = {},
): Promise<World & { close(): Promise<void> }> {
  const provider = await startOpenIdProvider();
  const env = { RATE_LIMITS: "api:0", FREE_LIMITS, ...provider.env, ...options.env };
  const system = await startSystem(env, { workers: options.workers ?? false });
  const receiver = await startReceiver();
  const tokens = await startReceiver({
    status: 200,
    headers: { "content-type": "application/json" },
    body: '{"access_token": "renewed", "token_type": "bearer"}',
  });
  await setApp(system.worker, {
    ...{ slug: "github", name: "GitHub", clientId: "client", tokenAuth: "none" },
    ...{ authorizeUrl: "https://github.example/authorize", tokenUrl: `${tokens.url}/token` },
  });
  return {
    system,
    receiver,
    async close() {
      await provider.stop();
      await receiver.close();
      await tokens.close();
      await system.stop();
    },
  };
}

/** Creates a user with an organization: a resource is made for the one or the other. */
export async function openOwner({ system }: World): Promise<Owner> {
  const api = await system.user();
  return { api, orgId: await system.organization(api.userId) };
}
