import type { Static } from "typebox";
import { accepted, data, page } from "../http/response.ts";
import type { RouteRequest } from "../http/route.ts";
import type { Webhook } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { sendTest } from "./attempt/send-test.ts";
import { listDeliveries } from "./list.ts";
import { readRecovery, requestRecovery } from "./request-recovery.ts";
import { DeliveryFilter, DeliveryView, RecoverBody, RecoveryView, TestResult } from "./schema.ts";

/** What these routes need of the platform. */
export type ListenerDeps = Pick<
  Platform,
  | "mongo"
  | "redis"
  | "keys"
  | "queues"
  | "egress"
  | "lastingConnections"
  | "routing"
  | "log"
  | "metrics"
  | "sandboxes"
  | "secrets"
  | "config"
  | "clock"
>;

/** A request that names a webhook or a destination. */
type Asked<Query, Body> = RouteRequest<ListenerDeps, object, Query, Body, Webhook>;

/** What a route that lists the deliveries to a webhook is, and one that lists those to a destination. */
export const listsDeliveries = {
  query: DeliveryFilter,
  response: page(200, DeliveryView),
  handler: ({ deps, resource, query, page }: Asked<Static<typeof DeliveryFilter>, unknown>) =>
    listDeliveries(deps, resource, query, page),
};

/** As `listsDeliveries`, for a route that retries those that failed. */
export const recoversDeliveries = {
  body: RecoverBody,
  response: accepted(202, RecoveryView),
  alsoStatus: 200,
  errors: ["conflict"] as const,
  handler: ({ deps, resource, body, ctx }: Asked<unknown, Static<typeof RecoverBody>>) => {
    if (body.dry_run) ctx.status = 200;
    return requestRecovery(deps, resource, body);
  },
};

/** As `listsDeliveries`, for a route that shows how far that is. */
export const readsRecovery = {
  response: data(200, RecoveryView),
  handler: async ({ resource }: Asked<unknown, unknown>) => readRecovery(resource),
};

/** As `listsDeliveries`, for a route that sends a test event now. */
export const sendsTest = {
  response: data(200, TestResult),
  handler: ({ deps, resource }: Asked<unknown, unknown>) => sendTest(deps, resource),
};
