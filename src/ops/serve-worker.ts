import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createBoundedServer } from "../http/bounded-server.ts";
import type { Calling } from "../platform.ts";
import { healthOf, mayInspectWorker, withoutDetails } from "./health.ts";
import { recentMetrics } from "./metrics.ts";

/**
 * Serves a worker's `/healthz`, `/readyz` and `/metrics` on `WORKER_PORT`, as the web process does on its own port, to
 * anybody who can reach that port unless `METRICS_TOKEN` is set. Rejects if the port is taken.
 */
export async function serveWorker(platform: Calling): Promise<Server> {
  const expose = recentMetrics(platform);
  const server = createBoundedServer((request, response) => {
    respond(platform, request, { response, expose }).catch((error: unknown) => {
      platform.log.warn({ err: error }, "health request failed");
      response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(platform.config.workerPort, platform.config.host, resolve);
  });
  return server;
}

async function respond(
  platform: Calling,
  request: IncomingMessage,
  { response, expose }: { response: ServerResponse; expose: ReturnType<typeof recentMetrics> },
): Promise<void> {
  const { url = "" } = request;
  const isAllowed = mayInspectWorker(request, platform.config.metricsToken);
  if (url === "/metrics") {
    if (!isAllowed) {
      response.writeHead(401, { "www-authenticate": 'Bearer realm="headwater"' }).end();
      return;
    }
    const { contentType, body } = await expose();
    response.writeHead(200, { "content-type": contentType }).end(body);
    return;
  }
  const health = await healthOf(
    platform,
    url,
    platform.sandboxHealth.problem === undefined ? [] : ["sandbox"],
  );
  if (!health) {
    response.writeHead(404).end();
    return;
  }
  const { status, body } = isAllowed ? health : withoutDetails(health);
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
