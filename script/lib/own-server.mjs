import { randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { lastLine, run } from "./commands.mjs";
import { findKey } from "./first-user.mjs";
import { withOwnStores } from "./own-stores.mjs";
import { choosePort } from "./ports.mjs";
import { within } from "./processes.mjs";
import { readProcfile } from "./procfile.mjs";
import { builtProgram } from "./programs.mjs";
import { Supervisor } from "./supervisor.mjs";
import { UserError } from "./user-error.mjs";

const READY_MS = 180_000;
const STOP_MS = 8000;

/**
 * Calls `work` with the address of a server that exists for this run only, and the API key of its only user, who has no
 * quota; its stores, in a temporary folder, go with it. `env` are further settings of it. It may reach 127.0.0.1, and its components may not. What its
 * processes print is in `logFile`. Throws UserError if it can't be started.
 */
export async function withOwnServer({ root, logFile, say, signal, env: given = {} }, work) {
  mkdirSync(dirname(logFile), { recursive: true });
  writeFileSync(logFile, "");
  return withOwnStores({ root, given: {}, say, signal }, async ({ mongodbUrl, redisUrl }) => {
    const port = await choosePort(0);
    const url = `http://127.0.0.1:${port}`;
    const env = {
      ...process.env,
      MONGODB_URL: mongodbUrl,
      REDIS_URL: redisUrl,
      HOST: "127.0.0.1",
      PORT: String(port),
      PUBLIC_URL: url,
      SECRETS_KEY: randomBytes(32).toString("base64"),
      EGRESS_ALLOW: "127.0.0.1/32",
      SANDBOX_EGRESS_ALLOW: "",
      RATE_LIMITS: "api:0",
      ...given,
    };
    const started = startProcesses({ root, env, logFile });
    try {
      await Promise.race([started.failed, waitUntilReady(url, logFile, signal)]);
      const apiKey = await createUser({ root, env, signal });
      return await Promise.race([started.failed, work({ url, apiKey })]);
    } finally {
      await started.stop();
    }
  });
}

function startProcesses({ root, env, logFile }) {
  let fail;
  const failed = new Promise((_, reject) => {
    fail = reject;
  });
  // It may come when it is not waited for any more.
  failed.catch(() => {});
  const log = line => appendFileSync(logFile, `${line}\n`);
  const supervisor = new Supervisor({
    ...{ root, env, say: log },
    print: (name, line) => log(`${name} | ${line}`),
    onSpawn: () => {},
    onGiveUp: error => fail(new UserError(`${error.message} (${logFile})`)),
  });
  for (const definition of readProcfile(join(root, "Procfile.small"))) supervisor.start(definition);
  const stop = async () => {
    await supervisor.stop("web", STOP_MS);
    await supervisor.stop("workers", STOP_MS);
  };
  return { failed, stop };
}

async function waitUntilReady(url, logFile, signal) {
  const isReady = async () => {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) }).catch(() => null);
    await response?.arrayBuffer();
    return response?.status === 200;
  };
  if (await within(READY_MS, isReady, { everyMs: 100, signal })) return;
  throw new UserError(`the server is not ready after ${READY_MS / 1000} s: ${logFile} says why`);
}

async function createUser({ root, env, signal }) {
  const { args } = builtProgram("src/cli/main.ts");
  const words = [...args, "user", "create", "--email", "catalogue@localhost", "--plan", "paid"];
  const { code, output } = await run(process.execPath, words, { cwd: root, env, signal });
  const key = code === 0 ? findKey(output) : undefined;
  if (key) return key;
  throw new UserError(`no user could be created: ${lastLine(output) || `code ${code}`}`);
}
