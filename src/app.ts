import Koa, { type Middleware } from "koa";
import compose from "koa-compose";
import helmet from "koa-helmet";
import { isApiKey } from "./accounts/api-keys.ts";
import { invitationRoutes } from "./accounts/invitation-routes.ts";
import { keyRoutes } from "./accounts/key-routes.ts";
import { limitsOf } from "./accounts/limits.ts";
import { openIdRoutes } from "./accounts/openid-connect/routes.ts";
import { operatorRoutes } from "./accounts/operator-routes.ts";
import { organizationRoutes } from "./accounts/organization-routes.ts";
import { userRoutes } from "./accounts/routes.ts";
import { openAuthenticate } from "./accounts/sessions/authenticate.ts";
import { readSession, sessionRoutes } from "./accounts/sessions/routes.ts";
import { activityRoutes } from "./activity/routes.ts";
import { alertRoutes } from "./alerts/send/routes.ts";
import { attentionRoutes } from "./attention/routes.ts";
import { recordChange } from "./audit/record.ts";
import { auditRoutes } from "./audit/routes.ts";
import { additionalPropsRoutes, configureRoutes } from "./components/configure/routes.ts";
import { componentRoutes } from "./components/routes.ts";
import { trialRoutes } from "./components/trial/routes.ts";
import { privateAddressRoutes } from "./connections/private-address-routes.ts";
import { connectionRoutes } from "./connections/routes.ts";
import { issueRoutes } from "./deliveries/issues/routes.ts";
import { destinationDeliveryRoutes } from "./deliveries/listener-routes.ts";
import { pullRoutes } from "./deliveries/pull/routes.ts";
import { replayRoutes } from "./deliveries/replays/routes.ts";
import { deliveryRoutes } from "./deliveries/routes.ts";
import { actionRoutes } from "./destinations/action/routes.ts";
import { destinationRoutes } from "./destinations/routes.ts";
import { eventRoutes } from "./events/routes.ts";
import { galleryRoutes } from "./gallery/routes.ts";
import { apiPage } from "./http/api-page.ts";
import { KeyGate } from "./http/authorize.ts";
import { createCallRoute } from "./http/call-route.ts";
import { trustProxy } from "./http/client-address.ts";
import type { HandleOptions } from "./http/handle-request.ts";
import { createIdempotency } from "./http/idempotency.ts";
import { openapiRoute } from "./http/openapi-route.ts";
import { respondError } from "./http/problem.ts";
import { rateLimit } from "./http/rate-limit.ts";
import { hasClientLeft, requestLog } from "./http/request-log.ts";
import type { AnyRoute } from "./http/route.ts";
import { createRouter } from "./http/router.ts";
import { ingress, separateHosts } from "./ingress/ingress.ts";
import { rejectionRoutes } from "./ingress/rejection-routes.ts";
import { version } from "./lib/versions.ts";
import { LIMITS } from "./limits/catalogue.ts";
import { isMcpPath, mcpServer } from "./mcp/endpoint.ts";
import { mcpSubscriptionRoutes } from "./mcp/events/routes.ts";
import { agentConsentRoutes } from "./mcp/oauth/consent-routes.ts";
import { oauthServer } from "./mcp/oauth/server.ts";
import { alertMailOff } from "./ops/alert-mail-off.ts";
import { board } from "./ops/board.ts";
import { connectionPages } from "./ops/connection-pages.ts";
import { dashboard } from "./ops/dashboard.ts";
import { docsSite } from "./ops/docs-site.ts";
import { health } from "./ops/health.ts";
import { homePage } from "./ops/home-page.ts";
import { collectInstallation, exposeMetrics, timeRequests } from "./ops/metrics.ts";
import { openIdReturn } from "./ops/openid-return.ts";
import type { Platform } from "./platform.ts";
import { byHandRoutes } from "./runs/by-hand/routes.ts";
import { runRoutes } from "./runs/routes.ts";
import { searchRoutes } from "./search/routes.ts";
import { secretRoutes } from "./secrets/routes.ts";
import { sourceEventRoutes } from "./sources/event-routes.ts";
import { presetRoutes } from "./sources/preset-routes.ts";
import { sourceRoutes } from "./sources/routes.ts";
import { versionRoutes } from "./sources/version-routes.ts";
import { createKeyRateLimiter } from "./store/limits/key-rate.ts";
import { autoSubscriptionRoutes, subscriptionRoutes } from "./subscriptions/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";
import { workflowRoutes } from "./workflows/routes.ts";

/** The longest that a request takes besides hooks: to fetch, install, bundle and describe a component, each limited. */
const SAVE_MS = 10 * 60_000;

const API_PREFIX = "/v1";
/** `/v1/` itself is a page. */
const isApiPath = (path: string) =>
  isMcpPath(path) || (path.startsWith(`${API_PREFIX}/`) && path.length > API_PREFIX.length + 1);

const featureRoutes: AnyRoute<Platform>[] = [
  ...componentRoutes,
  ...trialRoutes,
  ...configureRoutes,
  ...galleryRoutes,
  ...connectionRoutes,
  ...privateAddressRoutes,
  ...additionalPropsRoutes,
  ...sourceRoutes,
  ...versionRoutes,
  ...rejectionRoutes,
  ...presetRoutes,
  ...runRoutes,
  ...byHandRoutes,
  ...sourceEventRoutes,
  ...eventRoutes,
  ...subscriptionRoutes,
  ...autoSubscriptionRoutes,
  ...webhookRoutes,
  ...destinationRoutes,
  ...actionRoutes,
  ...deliveryRoutes,
  ...destinationDeliveryRoutes,
  ...pullRoutes,
  ...mcpSubscriptionRoutes,
  ...replayRoutes,
  ...issueRoutes,
  ...secretRoutes,
  ...workflowRoutes,
  ...searchRoutes,
  ...activityRoutes,
  ...attentionRoutes,
  ...userRoutes,
  ...sessionRoutes,
  ...openIdRoutes,
  ...keyRoutes,
  ...agentConsentRoutes,
  ...organizationRoutes,
  ...invitationRoutes,
  ...operatorRoutes,
  ...auditRoutes,
  ...alertRoutes,
];

/** Every route of the API: router, validation and OpenAPI document all come from this list. */
export const routes: AnyRoute<Platform>[] = [...featureRoutes, openapiRoute(featureRoutes, version)];

/** Creates the web process's app; `checkResponses` (tests) turns a response that breaks its declaration into a 500. */
export function createApp(platform: Platform, options: { checkResponses?: boolean } = {}): Koa {
  const { config, log } = platform;
  collectInstallation(platform);
  const app = new Koa();
  if (config.trustProxy) trustProxy(app);
  app.on("error", error => {
    // The request's own line says that it was aborted.
    if (!hasClientLeft(error)) log.error({ err: error }, "response failed");
  });
  app.use(requestLog(log));
  app.use(timeRequests(platform));
  app.use(respondError());
  app.use(separateHosts(platform));
  const [serveApi, serveOthers] = [api(platform, options), others(platform)];
  app.use((ctx, next) => (isApiPath(ctx.path) ? serveApi(ctx, next) : serveOthers(ctx, next)));
  return app;
}

/** What is not below the API's paths: endpoints of sources, what operators look at, and pages. */
const others = (platform: Platform): Middleware =>
  compose([
    exposeMetrics(platform),
    ingress(platform),
    health(platform),
    helmet(),
    board(platform),
    openIdReturn(platform),
    oauthServer(platform),
    connectionPages(platform),
    dashboard(platform),
    alertMailOff(platform),
    homePage(platform),
    apiPage({ openapiUrl: `${API_PREFIX}/openapi.json` }),
    docsSite(platform),
  ]);

function api(platform: Platform, { checkResponses = false }: { checkResponses?: boolean }): Middleware {
  const { config, redis, keys, secrets } = platform;
  const { perSecond, burst } = config.rateLimit;
  const gate = new KeyGate({
    authenticate: openAuthenticate(platform),
    clock: platform.clock,
    isKey: isApiKey,
    readSession: ctx => readSession(platform, ctx),
    rateLimit:
      perSecond > 0
        ? rateLimit(
            createKeyRateLimiter(redis, {
              keyPrefix: keys.rateLimit(),
              points: perSecond,
              durationS: 1,
              burst,
            }),
          )
        : undefined,
  });
  const handling: HandleOptions<Platform> = {
    deps: platform,
    checkResponses,
    recordChange: change => recordChange(platform, change),
  };
  const router = createRouter(routes, {
    ...handling,
    prefix: API_PREFIX,
    gate,
    maxBodyBytes: LIMITS.apiBodyBytes.value,
    idempotency: createIdempotency({
      redis,
      keyOf: identity => `${keys.idempotency()}:${identity}`,
      seal: secrets.seal,
      open: secrets.open,
      longestRequestMs: SAVE_MS + 2 * config.sandbox.hookMs,
      bytesPerHour: async ownerId => (await limitsOf(platform, ownerId)).idempotencyBytesPerHour,
    }),
  });
  const agents =
    config.mcp === "off" ? [] : [mcpServer({ platform, gate, routes, callRoute: createCallRoute(handling) })];
  return compose([helmet(), ...agents, router]);
}
