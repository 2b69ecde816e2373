import { createServer, type Server, type ServerResponse } from "node:http";
import type { Platform } from "../platform.ts";
import { healthOf } from "./health.ts";

type Deps = Pick<Platform, "redis" | "mongo" | "keys" | "metrics" | "config" | "log" | "sandboxHealth">;

/**
 * Serves a worker's `/healthz`, `/readyz` and `/metrics` on `WORKER_PORT`, as the web process does on its own port. Rejects
 * if the port is taken.
 */
export async function serveWorker(platform: Deps): Promise<Server> {
  const server = createServer((request, response) => {
    respond(platform, request.url ?? "", response).catch((error: unknown) => {
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

async function respond(platform: Deps, url: string, response: ServerResponse): Promise<void> {
  if (url === "/metrics") {
    const { contentType, body } = await platform.metrics.expose();
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
  response.writeHead(health.status, { "content-type": "application/json" }).end(JSON.stringify(health.body));
}
