import { expect } from "chai";
import { choosePort } from "../../script/lib/ports.mjs";
import { spawnWorker } from "../workers/worker-process.ts";

const NAMES = ["web", "runs", "emissions", "deliveries", "deletions", "all"];

/** Starts every process with addresses where no store listens; `check` expects each to exit with one line. */
export async function startWithoutStores(env: Record<string, string>) {
  const port = await choosePort(0);
  const away = { MONGODB_URL: `mongodb://127.0.0.1:${port}/none`, REDIS_URL: `redis://127.0.0.1:${port}` };
  const children = NAMES.map(name => spawnWorker(name, { ...env, ...away }));
  return {
    async check(): Promise<void> {
      for (const child of children) {
        expect(await child.ended).to.equal(1);
        const lines = child.output().trim().split("\n");
        const messages = lines.filter(line => !line.startsWith("{"));
        expect(messages, child.output()).to.have.length(1);
        expect(messages[0]).to.match(/Redis did not respond/);
      }
    },
    kill: () => {
      for (const child of children) child.kill("SIGKILL");
    },
  };
}
