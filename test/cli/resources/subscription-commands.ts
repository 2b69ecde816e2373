import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Api } from "../../support/api.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { type System, startSystem } from "../../support/system.ts";

/** A system with a workflow and a webhook, for commands about what is between them. */
export interface SubscriptionCommands {
  system: System;
  receiver: Receiver;
  api: Api & { userId: string };
  env: Record<string, string>;
  /** The id of the workflow. */
  flow: string;
  /** Writes a function; returns its path. */
  file(code: string): Promise<string>;
  close(): Promise<void>;
}

export async function openSubscriptionCommands(): Promise<SubscriptionCommands> {
  const system = await startSystem();
  const receiver = await startReceiver(200);
  const api = await system.user();
  const { id: flow } = await api.expect(201, "POST", "/workflows", { body: { name: "Flow" } });
  const folder = await mkdtemp(join(tmpdir(), "headwater-subscription-"));
  await api.createWebhook(receiver.url, { name: "inbox" });
  return {
    ...{ system, receiver, api, flow },
    env: { HEADWATER_URL: system.baseUrl, HEADWATER_API_KEY: api.apiKey },
    async file(code) {
      const path = join(folder, "function.ts");
      await writeFile(path, code);
      return path;
    },
    async close() {
      await rm(folder, { recursive: true, force: true });
      await receiver.close();
      await system.stop();
    },
  };
}
