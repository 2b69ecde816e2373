import "./lib/require-node.ts";

import type { AddressInfo } from "node:net";
import { createApp } from "./app.ts";
import { type Config, readConfig } from "./config.ts";
import { publishGallery } from "./gallery/publish-gallery.ts";
import { readShipped } from "./gallery/shipped.ts";
import { createBoundedServer } from "./http/bounded-server.ts";
import { collectWhenIdle } from "./lib/collect-when-idle.ts";
import { exitCodeOf } from "./lib/errors.ts";
import { isEntry } from "./lib/is-entry.ts";
import { createLogger, logConsole, printLastLine } from "./lib/logger.ts";
import { onShutdown } from "./lib/shutdown.ts";
import { openPlatform, type Platform } from "./platform.ts";
import { adoptClock } from "./store/connections/store-clock.ts";

export interface WebServer {
  port: number;
  /** Stops accepting, closes idle connections and waits for requests in progress. */
  close(): Promise<void>;
}

/** How long requests in progress may take when the process stops. */
const DRAIN_MS = 5_000;

/** Starts listening. Rejects if the port is taken. */
export async function startWeb(
  platform: Platform,
  options: { checkResponses?: boolean } = {},
): Promise<WebServer> {
  const server = createBoundedServer(createApp(platform, options).callback());
  // Longer than a load balancer's own, so that it never sends a request on a connection that we are closing.
  server.keepAliveTimeout = 65_000;
  server.on("drop", () => platform.metrics.count("connections_rejected_total", {}));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(platform.config.port, platform.config.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise(resolve => {
        const hard = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
        server.close(() => {
          clearTimeout(hard);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

/** Requests need not wait for it: what is not published yet has no id in the gallery. */
async function publishInBackground(platform: Platform): Promise<void> {
  try {
    const published = await publishGallery(platform, await readShipped());
    if (published > 0) platform.log.info({ published }, "components of the gallery published");
  } catch (error) {
    platform.log.warn({ err: error }, "the gallery could not be published; the next start does it");
  }
}

async function main(): Promise<void> {
  let config: Config;
  let platform: Platform;
  try {
    config = readConfig();
    const log = createLogger("web", config.logLevel);
    logConsole(log);
    platform = await openPlatform(config, "web", { log });
    adoptClock(platform.clock);
  } catch (error) {
    printLastLine(`headwater web: ${(error as Error).message}`);
    process.exit(exitCodeOf(error));
  }
  try {
    const web = await startWeb(platform);
    platform.log.info({ port: web.port, url: config.publicUrl }, "ready");
    process.send?.("ready");
    if (config.gallery) void publishInBackground(platform);
    collectWhenIdle();
    onShutdown(platform.log, async () => {
      await web.close();
      await platform.close();
    });
  } catch (error) {
    const taken = (error as { code?: string }).code === "EADDRINUSE";
    const reason = taken ? `port ${config.port} is taken; set PORT to another` : (error as Error).message;
    printLastLine(`headwater web: ${reason}`);
    process.exit(1);
  }
}

if (isEntry(import.meta.url)) await main();
