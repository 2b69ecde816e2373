import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { lastLine, run } from "./commands.mjs";
import { readEnvFile, writeEnvFile } from "./env-file.mjs";
import { ensureFirstUser, signInLink } from "./first-user.mjs";
import { acquireLock } from "./lock.mjs";
import { linePrinter, pathFromHere } from "./output.mjs";
import { choosePort, isFree } from "./ports.mjs";
import { commandLine, within } from "./processes.mjs";
import { readProcfile } from "./procfile.mjs";
import { builtProgram, sourceOf, sourceProgram } from "./programs.mjs";
import { allowsLoopback, developmentSettings, localUrl, portSetting } from "./settings.mjs";
import { isAffected, watchSources } from "./source-watch.mjs";
import { startOrAdopt } from "./store-server.mjs";
import { openStores } from "./stores.mjs";
import { Supervisor } from "./supervisor.mjs";
import { UserError } from "./user-error.mjs";

// Not the usual 6379 and 27017, which another project may use.
const FIRST_PORTS = { redis: 6409, mongo: 27_409 };
const READY_MS = 180_000;
const STILL_WAITING_MS = 15_000;
const LOOK_AT_STORES_MS = 2000;
const RESTART_GRACE_MS = 5000;
const DEV_ENV_HEADING = [
  "Written by npm start, or by headwater start, for this machine; the headwater command reads it too.",
  "The keys in here are real: do not share this file.",
];

/**
 * The whole start, from nothing to the line that says that everything is ready. Adds everything that it starts to
 * `teardown`. `folder`: where its data is. `procfile`: the file in `root` that names the processes. `isWatching`: runs them from their
 * sources, and restarts them after changes until the signal. Throws UserError.
 */
export async function startEverything({ root, folder, procfile, teardown, signal, isWatching }) {
  const say = console.log;
  // npm packs no lockfile of this name: without it, this is an installed package, whose folder is not written to.
  const isCheckout = existsSync(join(root, "package-lock.json"));
  const written = isCheckout ? root : folder;
  if (!isCheckout) say(`Its data, settings and keys are in ${folder}.`);
  const dotEnv = readEnvFile(join(written, ".env"));
  const given = { ...dotEnv, ...process.env };
  const processes = readProcfile(join(root, procfile)).map(one => (isWatching ? sourceProgram(one) : one));
  teardown.lock = await acquireLock(join(folder, "server.json"), {
    marks: [commandLine(process.pid) ?? ""],
    childMarks: [isWatching ? `--import tsx ${root}/` : join(root, "dist/")],
  });
  const port = await webPort(given);
  if (isCheckout) {
    const { prepareCheckout } = await import("./checkout.mjs");
    await prepareCheckout({ root, isWatching, say, signal });
  }

  // Loaded while the stores start, which is mostly waiting.
  const settingsReader = isWatching ? undefined : loadSettingsReader(root);
  const hold = handle => teardown.stores.push(handle);
  const urls = await openStores({
    ...{
      root,
      downloads: written,
      folder,
      hold,
      say,
      signal,
      firstPorts: FIRST_PORTS,
      database: "headwater",
    },
    ...{ mongodbUrl: given.MONGODB_URL, redisUrl: given.REDIS_URL },
  });
  const devEnv = join(folder, "dev.env");
  const settings = {
    ...dotEnv,
    ...developmentSettings({ given, saved: readEnvFile(devEnv), port }),
    MONGODB_URL: urls.mongodbUrl,
    REDIS_URL: urls.redisUrl,
    ...(!isCheckout && { CACHE_DIR: given.CACHE_DIR || join(written, ".cache") }),
  };
  const env = { ...given, ...settings };
  checkSettings(await settingsReader, env, Object.keys(dotEnv));
  writeEnvFile(devEnv, settings, DEV_ENV_HEADING);
  if (allowsLoopback(given)) {
    say("Development start: deliveries may reach this machine (EGRESS_ALLOW is 127.0.0.0/8,::1/128).");
  }

  // Ctrl-C while the stores were starting: nothing more may be started after the teardown began.
  signal.throwIfAborted();
  const cli = isWatching ? sourceProgram(builtProgram("src/cli/main.ts")) : builtProgram("src/cli/main.ts");
  await migrateDatabase({ root, env, cli, say, signal });
  teardown.supervisor = superviseAll({ root, env, processes, teardown, say });
  const url = localUrl(given.HOST, port);
  await waitUntilReady({ supervisor: teardown.supervisor, url, token: settings.METRICS_TOKEN, say, signal });
  const user = await ensureFirstUser({ root, env, url, cli, key: settings.HEADWATER_API_KEY, signal });
  if (user.created) writeEnvFile(devEnv, { ...settings, HEADWATER_API_KEY: user.key }, DEV_ENV_HEADING);
  void watchStores({ folder, hold, teardown, say, signal });
  const link = await signInLink({ url, key: user.key, signal });
  announce({
    user,
    url,
    say,
    link,
    kept: pathFromHere(devEnv),
    program: isCheckout ? "bin/headwater" : "npx headwater",
  });
  if (isWatching) await restartOnSave({ root, processes, supervisor: teardown.supervisor, say, signal });
}

/** Brings the data of an earlier start to the schema of these sources, as platforms do by the Procfile's `release`. */
async function migrateDatabase({ root, env, cli, say, signal }) {
  const { code, output } = await run(process.execPath, [...cli.args, "migrate"], { cwd: root, env, signal });
  if (code !== 0) throw new UserError(lastLine(output) || `headwater migrate ended with code ${code}`);
  if (!output.includes("nothing to do")) say(`Database: ${lastLine(output)}`);
}

async function webPort(given) {
  const port = portSetting(given.PORT);
  if (port === 0) return choosePort(0);
  if (await isFree(port, given.HOST || "127.0.0.1")) return port;
  throw new UserError(
    `port ${port} is taken by another program: end that one, or choose another port, such as PORT=${port + 1} npm start`,
  );
}

/** Returns the module that reads the settings; undefined if there is none. */
async function loadSettingsReader(root) {
  const file = join(root, "dist/src/config.js");
  return existsSync(file) ? import(pathToFileURL(file).href) : undefined;
}

/** Reads the settings as the processes will, so that a bad setting is one line here and not one of every process. */
function checkSettings(reader, env, fileNames) {
  try {
    reader?.readConfig(env, { fileNames });
  } catch (error) {
    throw new UserError(error.message);
  }
}

function superviseAll({ root, env, processes, teardown, say }) {
  const print = linePrinter(processes.map(({ name }) => name));
  const supervisor = new Supervisor({
    ...{ root, env, print, say },
    onSpawn: (name, pid) => teardown.lock.recordChild(name, pid),
    onGiveUp: error => teardown.onFatal(error),
  });
  for (const definition of processes) supervisor.start(definition);
  return supervisor;
}

async function waitUntilReady({ supervisor, url, token, say, signal }) {
  let seen = "nothing";
  let sayAgainAt = Date.now() + STILL_WAITING_MS;
  const isWebReady = async () => {
    try {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${url}/readyz`, { headers, signal: AbortSignal.timeout(5000) });
      seen = `${response.status} ${(await response.text()).slice(0, 200)}`;
      return response.status === 200;
    } catch (error) {
      seen = error.cause?.code ?? error.message;
      return false;
    }
  };
  const areWorkersReady = () => supervisor.waiting().every(name => name === "web");
  const whatIsMissing = () => {
    const workers = supervisor.waiting().filter(name => name !== "web");
    return workers.length > 0
      ? `no ready line from ${workers.join(", ")}`
      : `GET ${url}/readyz returns ${seen}`;
  };
  const isReady = async () => {
    if (areWorkersReady() && (await isWebReady())) return true;
    if (Date.now() >= sayAgainAt) {
      sayAgainAt += STILL_WAITING_MS;
      say(`Still starting: ${whatIsMissing()}.`);
    }
    return false;
  };
  if (await within(READY_MS, isReady, { everyMs: 100, signal })) return supervisor.allStarted();
  throw new UserError(`not ready after ${READY_MS / 1000} s: ${whatIsMissing()}; the lines above say why`);
}

/** Starts a store again that died; the processes wait for it and then continue. */
async function watchStores({ folder, hold, teardown, say, signal }) {
  try {
    for (;;) {
      await delay(LOOK_AT_STORES_MS, undefined, { signal });
      for (const dead of teardown.stores.filter(handle => !handle.isAlive())) {
        teardown.stores.splice(teardown.stores.indexOf(dead), 1);
        say(`${dead.kind.title} ended unexpectedly: starting it again`);
        const again = await startOrAdopt(dead.kind, { folder, hold, signal });
        if (again.port === dead.port) continue;
        throw new UserError(
          `port ${dead.port} of ${dead.kind.title} is taken by another program now: start again`,
        );
      }
    }
  } catch (error) {
    if (!signal.aborted) teardown.onFatal(error);
  }
}

/** Restarts the processes whose code was saved, with one line for each restart. Resolves after the signal. */
async function restartOnSave({ root, processes, supervisor, say, signal }) {
  await watchSources({
    root,
    signal,
    async onChange(files) {
      const affected = processes
        .filter(one => isAffected(root, sourceOf(one), files))
        .map(({ name }) => name);
      if (affected.length === 0 || signal.aborted) return;
      const what = files.length === 1 ? files[0] : `${files[0]} and ${files.length - 1} more`;
      say(`${what} changed: restarting ${affected.join(", ")}`);
      await Promise.all(affected.map(name => supervisor.restart(name, RESTART_GRACE_MS)));
    },
  });
}

function announce({ user, url, say, link, kept, program }) {
  if (user.created) {
    say(`Created the user dev@localhost. Its API key, shown only now (and kept in ${kept}): ${user.key}`);
  }
  if (user.problem) {
    say(
      `No first user was created (${user.problem}). To create one: ${program} user create --email you@example.com`,
    );
  }
  say(`Headwater is ready: ${url}/v1  (docs ${url}/docs, board ${url}/admin/queues, password in ${kept})`);
  if (link) {
    say(`Dashboard (signs in once, within ten minutes; ${program} dashboard prints another link): ${link}`);
  }
}
