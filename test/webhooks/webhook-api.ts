import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import { destinationDeliveryRoutes } from "../../src/deliveries/listener-routes.ts";
import { deliveryRoutes } from "../../src/deliveries/routes.ts";
import { destinationRoutes } from "../../src/destinations/routes.ts";
import { KeyGate } from "../../src/http/authorize.ts";
import { respondError } from "../../src/http/problem.ts";
import { requestLog } from "../../src/http/request-log.ts";
import type { Caller } from "../../src/http/route.ts";
import { createRouter } from "../../src/http/router.ts";
import { webhookRoutes } from "../../src/webhooks/routes.ts";
import type { TestPlatform } from "../support/platform.ts";

/** The callers, by API key. */
export const CALLERS: Record<string, Caller> = {
  ann: {
    ...{ userId: "u_ann0000000000000", keyId: "key_ann", orgIds: ["o_red0000000000000"] },
    roles: { o_red0000000000000: "owner" },
  },
  eve: { userId: "u_eve0000000000000", keyId: "key_eve", orgIds: [], roles: {} },
};

// biome-ignore lint/suspicious/noExplicitAny: each test expects a different body
export type Json = any;

export interface Api {
  /** Sends a request as `as` (`ann` by default); returns status and body. */
  call(
    method: string,
    path: string,
    options?: { as?: string; body?: unknown },
  ): Promise<{ status: number; body: Json }>;
  close(): Promise<void>;
}

/** Serves the routes of webhooks, destinations and deliveries on a real server; responses are checked against their schemas. */
export async function openWebhookApi(platform: TestPlatform): Promise<Api> {
  const app = new Koa();
  app.use(requestLog(platform.log));
  app.use(respondError());
  app.use(
    createRouter([...webhookRoutes, ...destinationRoutes, ...deliveryRoutes, ...destinationDeliveryRoutes], {
      deps: platform,
      prefix: "/v1",
      gate: new KeyGate({
        authenticate: async key => CALLERS[key] ?? null,
        clock: Date.now,
        isKey: () => true,
        rateLimit: undefined,
      }),
      checkResponses: true,
    }),
  );
  const server = createServer(app.callback());
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    async call(method, path, { as = "ann", body } = {}) {
      const response = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${as}`,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? null : JSON.parse(text) };
    },
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
