import { choosePort } from "../../script/lib/ports.mjs";
import { createUser } from "../../src/accounts/users.ts";
import { openPlatform, type Platform } from "../../src/platform.ts";
import { Api } from "../support/api.ts";
import { dropKeys, testConfig } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { environmentOf, spawnWorker, type WorkerProcess, whenReady } from "../workers/worker-process.ts";

/** An installation whose processes a test starts and kills one by one. */
export interface Processes {
  platform: Platform;
  receiver: Receiver;
  api: Api;
  /** By their names. */
  running: Map<string, WorkerProcess>;
  /** Starts a process without waiting for it; `more` are settings of it alone. */
  spawn(name: string, more?: Record<string, string>): WorkerProcess;
  /** Starts a process; resolves when it is ready. */
  start(name: string): Promise<void>;
  kill(name: string): Promise<void>;
  close(): Promise<void>;
}

/** `given` are settings of all processes. */
export async function openProcesses(given: Record<string, string> = {}): Promise<Processes> {
  const config = testConfig({ TIMEOUTS: "stalled:1s", SWEEP_EVERY: "1s", ...given });
  const platform = await openPlatform(config, "runs");
  const port = await choosePort(0);
  const env = {
    ...environmentOf(config),
    PORT: String(port),
    SWEEP_EVERY: "1s",
    DELIVERY_RETRY_SCHEDULE: "100ms,100ms,100ms",
    ...given,
  };
  const receiver = await startReceiver(200);
  const { api_key } = await createUser(platform, { email: "crash@example.test" });
  const running = new Map<string, WorkerProcess>();
  const spawn = (name: string, more: Record<string, string> = {}) => {
    const child = spawnWorker(name, { ...env, ...more });
    running.set(name, child);
    return child;
  };
  const kill = async (name: string) => {
    const child = running.get(name);
    running.delete(name);
    child?.kill("SIGKILL");
    await child?.ended;
  };
  return {
    platform,
    receiver,
    api: new Api(`http://127.0.0.1:${port}/v1`, api_key),
    running,
    spawn,
    start: name => whenReady(spawn(name)),
    kill,
    async close() {
      for (const name of [...running.keys()]) await kill(name);
      await receiver.close();
      await platform.mongo.dropDatabase();
      await dropKeys(platform);
      await platform.close();
    },
  };
}
