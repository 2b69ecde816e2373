import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { buildIfStale } from "./build.mjs";
import { Complaint } from "./complaint.mjs";
import { installDependencies } from "./dependencies.mjs";
import { readEnvFile, writeEnvFile } from "./env-file.mjs";
import { ensureFirstUser } from "./first-user.mjs";
import { acquireLock } from "./lock.mjs";
import { linePrinter } from "./output.mjs";
import { choosePort, isFree } from "./ports.mjs";
import { within } from "./processes.mjs";
import { readProcfile } from "./procfile.mjs";
import { allowsLoopback, developmentSettings, localUrl, portSetting } from "./settings.mjs";
import { startOrAdopt } from "./store-server.mjs";
import { openStores } from "./stores.mjs";
import { createSupervisor } from "./supervisor.mjs";

// Beside, not on, the usual 6379 and 27017: those may be another project's.
const FIRST_PORTS = { redis: 6409, mongo: 27_409 };
const READY_MS = 60_000;
const WATCH_MS = 2000;
const DEV_ENV_HEADING = [
  "Written by script/server (npm start) for this development start; the headwater command reads it too.",
  "Keys in here are real: keep the file to yourself.",
];

/** The whole start, from nothing to the last line. Registers all it starts with `teardown`. Throws Complaint. */
export async function startEverything({ root, teardown, signal }) {
  const say = console.log;
  const folder = join(root, ".data");
  const dotEnv = readEnvFile(join(root, ".env"));
  const given = { ...dotEnv, ...process.env };
  const processes = readProcfile(join(root, "Procfile"));
  teardown.lock = await acquireLock(join(folder, "server.json"), {
    marks: [join(root, "script/lib/server.mjs")],
    childMarks: [join(root, "dist/")],
  });
  const port = await webPort(given);
  await installDependencies({ root, say, signal });
  await buildIfStale({ root, say, signal });

  const hold = handle => teardown.stores.push(handle);
  const urls = await openStores({
    ...{ root, folder, hold, say, signal, firstPorts: FIRST_PORTS, database: "headwater" },
    ...{ mongodbUrl: given.MONGODB_URL, redisUrl: given.REDIS_URL },
  });
  const devEnv = join(folder, "dev.env");
  const settings = {
    ...dotEnv,
    ...developmentSettings({ given, saved: readEnvFile(devEnv), port }),
    MONGODB_URL: urls.mongodbUrl,
    REDIS_URL: urls.redisUrl,
  };
  const env = { ...given, ...settings };
  await checkSettings(root, env);
  writeEnvFile(devEnv, settings, DEV_ENV_HEADING);
  if (allowsLoopback(given)) {
    say("Development start: deliveries may go to this machine (EGRESS_ALLOW is 127.0.0.0/8 and ::1/128).");
  }

  // Ctrl-C while the stores came up: nothing more may be started after the teardown began.
  signal.throwIfAborted();
  teardown.supervisor = superviseAll({ root, env, processes, teardown, say });
  const url = localUrl(given.HOST, port);
  await waitUntilReady(teardown.supervisor, url, signal);
  const user = await ensureFirstUser({ root, env, url, key: settings.HEADWATER_API_KEY, signal });
  if (user.created) writeEnvFile(devEnv, { ...settings, HEADWATER_API_KEY: user.key }, DEV_ENV_HEADING);
  void watchStores({ folder, hold, teardown, say, signal });
  announce({ user, url, say });
}

async function webPort(given) {
  const port = portSetting(given.PORT);
  if (port === 0) return choosePort(0);
  if (await isFree(port, given.HOST || "127.0.0.1")) return port;
  throw new Complaint(
    `port ${port} is taken by another program: end that one, or choose another port, such as PORT=${port + 1} npm start`,
  );
}

/** Asks the built config reader, so that a bad setting is one line here and not one of every process, five times. */
async function checkSettings(root, env) {
  const reader = join(root, "dist/src/config.js");
  if (!existsSync(reader)) return;
  const { readConfig } = await import(pathToFileURL(reader).href);
  try {
    readConfig(env);
  } catch (error) {
    throw new Complaint(error.message);
  }
}

function superviseAll({ root, env, processes, teardown, say }) {
  const print = linePrinter(processes.map(({ name }) => name));
  const supervisor = createSupervisor({
    ...{ root, env, print, say },
    onSpawn: (name, pid) => teardown.lock.recordChild(name, pid),
    onGiveUp: complaint => teardown.onFatal(complaint),
  });
  for (const definition of processes) supervisor.start(definition);
  return supervisor;
}

async function waitUntilReady(supervisor, url, signal) {
  let answer = "nothing";
  const isWebReady = async () => {
    try {
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) });
      answer = `${response.status} ${(await response.text()).slice(0, 200)}`;
      return response.status === 200;
    } catch (error) {
      answer = error.cause?.code ?? error.message;
      return false;
    }
  };
  const areWorkersReady = () => supervisor.waiting().every(name => name === "web");
  const isReady = async () => areWorkersReady() && (await isWebReady());
  if (await within(READY_MS, isReady, { everyMs: 100, signal })) return supervisor.allStarted();
  const workers = supervisor.waiting().filter(name => name !== "web");
  const what = workers.length > 0 ? `no word of ${workers.join(", ")}` : `GET ${url}/readyz gives ${answer}`;
  throw new Complaint(`not ready after ${READY_MS / 1000} s: ${what}; the lines above say why`);
}

/** Starts a store again that died under us: the services wait for it and go on by themselves. */
async function watchStores({ folder, hold, teardown, say, signal }) {
  try {
    for (;;) {
      await delay(WATCH_MS, undefined, { signal });
      for (const dead of teardown.stores.filter(handle => !handle.isAlive())) {
        teardown.stores.splice(teardown.stores.indexOf(dead), 1);
        say(`${dead.kind.title} ended unexpectedly: starting it again`);
        const again = await startOrAdopt(dead.kind, { folder, hold, signal });
        if (again.port === dead.port) continue;
        throw new Complaint(
          `port ${dead.port} of ${dead.kind.title} is taken by another program now: start again`,
        );
      }
    }
  } catch (error) {
    if (!signal.aborted) teardown.onFatal(error);
  }
}

function announce({ user, url, say }) {
  if (user.created) {
    say(`Made the user dev@localhost. Its API key, shown this once (and kept in .data/dev.env): ${user.key}`);
  }
  if (user.problem) {
    say(
      `No first user was made (${user.problem}): bin/headwater user create --email you@example.com makes one.`,
    );
  }
  say(
    `Headwater is ready: ${url}/v1  (docs ${url}/docs, board ${url}/admin/queues user admin, password in .data/dev.env)`,
  );
}
