import { createOrganization } from "../../src/accounts/organizations.ts";
import { createUser } from "../../src/accounts/users.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import type { RunningWorker } from "../../src/queues/run-worker.ts";
import { startWeb, type WebServer } from "../../src/server.ts";
import { start as startAll } from "../../workers/all.ts";
import { Api } from "./api.ts";
import { chooseDatabase, prepareDatabase, returnDatabase } from "./databases.ts";
import { dropKeys, testConfig } from "./platform.ts";
import { openSharedSandboxes } from "./shared-sandboxes.ts";

/** The web process and all workers, in this process, with their own database; both sides have their own platform. */
export interface System {
  web: Platform;
  worker: Platform;
  baseUrl: string;
  /** Creates a user and returns a client of it. */
  user(options?: { plan?: "free" | "paid" }): Promise<Api & { userId: string }>;
  organization(ownerId: string): Promise<string>;
  stop(): Promise<void>;
}

let users = 0;

/** Starts the whole system; `env` overrides settings. With `workers: false` it starts no workers. */
export async function startSystem(
  env: Record<string, string> = {},
  options: { workers?: boolean } = {},
): Promise<System> {
  const database = chooseDatabase(env);
  const config = testConfig(env, database?.name);
  const web = await openPlatform(config, "web", { openSandboxes: openSharedSandboxes });
  await prepareDatabase(web.mongo, database);
  const server: WebServer = await startWeb(web, { checkResponses: true });
  const publicUrl = `http://127.0.0.1:${server.port}`;
  // The port is known only now, and endpoint URLs contain it.
  Object.defineProperty(web, "config", { value: { ...config, publicUrl } });
  const worker = await openPlatform({ ...config, publicUrl }, "runs", { openSandboxes: openSharedSandboxes });
  let running: RunningWorker | undefined;
  if (options.workers !== false) {
    running = startAll(worker);
    await running.ready();
  }
  return {
    web,
    worker,
    baseUrl: `${publicUrl}/v1`,
    async user({ plan } = {}) {
      users += 1;
      const { id, api_key } = await createUser(worker, { email: `user${users}@example.test`, plan });
      return Object.assign(new Api(`${publicUrl}/v1`, api_key), { userId: id });
    },
    async organization(ownerId) {
      return (await createOrganization(worker, { name: "Org", ownerId })).id;
    },
    async stop() {
      await server.close();
      await running?.close(3000);
      // Otherwise their counts would come back after the database is empty.
      await Promise.all([web.activity.close(), worker.activity.close()]);
      await returnDatabase(worker.mongo, database);
      await dropKeys(worker);
      await web.close();
      await worker.close();
    },
  };
}
