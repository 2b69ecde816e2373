import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Api } from "../support/api.ts";
import { type System, startSystem } from "../support/system.ts";
import { environmentOf } from "../workers/worker-process.ts";

/** A system, and a folder with code that is deployed to it. */
export interface DeployFolder {
  system: System;
  api: Api & { userId: string };
  /** Of commands that deploy as this user. */
  env: Record<string, string>;
  folder: string;
  /** Writes a file; returns its path. */
  save(name: string, code: string): Promise<string>;
  close(): Promise<void>;
}

export async function openDeployFolder(options: { workers?: boolean } = {}): Promise<DeployFolder> {
  const system = await startSystem({}, options);
  const api = await system.user();
  const folder = await mkdtemp(join(tmpdir(), "headwater-deploy-"));
  await mkdir(join(folder, "parts"));
  await writeFile(join(folder, "parts/word.mjs"), 'export const word = "imported";\n');
  return {
    ...{ system, api, folder },
    env: {
      ...environmentOf(system.web.config),
      HEADWATER_URL: system.baseUrl,
      HEADWATER_API_KEY: api.apiKey,
    },
    async save(name, code) {
      await writeFile(join(folder, name), code);
      return join(folder, name);
    },
    async close() {
      await system.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
