import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { delimiter, dirname } from "node:path";
import { exceedsLimit, type FolderLimit } from "../sandbox/measure-folder.ts";

/** npm's error code (`E404`, `ETARGET`, `ENOTFOUND`, …) and its message, for the log. */
export interface NpmFailure {
  code: string;
  text: string;
}

const TIMEOUT_MS = 60_000;
/** The folder is measured while npm runs, so that packages can't fill the disk. */
const MEASURE_INTERVAL_MS = 1000;
const MAX_OUTPUT = 256 * 1024;

const ARGUMENTS = [
  "install",
  "--json",
  // No code of a package runs.
  "--ignore-scripts",
  "--no-bin-links",
  // Only the registry: a dependency with a git, URL, file or folder address is rejected.
  "--allow-git=none",
  "--allow-remote=none",
  "--allow-file=none",
  "--allow-directory=none",
  "--no-git",
  // The lock file then contains an address only for packages that did not come from the registry.
  "--omit-lockfile-registry-resolved",
  "--no-audit",
  "--no-fund",
  "--no-package-lock",
  "--no-update-notifier",
  "--omit=dev",
  "--no-global",
  "--no-workspaces",
  // One short retry, because a caller is waiting for the response.
  "--fetch-retries=1",
  "--fetch-retry-mintimeout=500",
  "--fetch-timeout=20000",
];

const KEPT =
  /^(PATH|HOME|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|npm_config_(registry|https?[-_]proxy|proxy|no_?proxy|cafile|ca|strict[-_]ssl|userconfig|globalconfig|cache))$/i;

/** The largest common package, with all services of a cloud provider, has about 200 MB. */
export const PACKAGES_LIMIT: FolderLimit = { maxBytes: 512 * 1024 * 1024, maxEntries: 100_000 };

/** Returns the variables that npm needs: PATH, HOME, and its registry, proxy and certificate settings. */
export function npmEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(([name]) => KEPT.test(name));
  const path = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
  return { PATH: path, HOME: homedir(), ...Object.fromEntries(kept) };
}

/**
 * Runs `npm install` for the package.json in `folder`, for at most 60 s and up to the size `limit`. Returns null if it
 * succeeds. npm receives only `npmEnvironment(environment)`, not the environment of this process.
 */
export async function runNpm(
  folder: string,
  environment: NodeJS.ProcessEnv = {},
  limit: FolderLimit = PACKAGES_LIMIT,
): Promise<NpmFailure | null> {
  const child = spawn("npm", [...ARGUMENTS, `--prefix=${folder}`], {
    cwd: folder,
    env: npmEnvironment(environment),
    stdio: ["ignore", "pipe", "pipe"],
    // Its own process group, so that its children are killed too.
    detached: true,
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(0, MAX_OUTPUT);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-MAX_OUTPUT);
  });
  let stopped: NpmFailure | undefined;
  const stop = (failure: NpmFailure): void => {
    stopped ??= failure;
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  const tooLarge = { code: "ETOOLARGE", text: "the packages are too large" };
  const timer = setTimeout(
    () => stop({ code: "ETIMEDOUT", text: `npm took more than ${TIMEOUT_MS / 1000} s` }),
    TIMEOUT_MS,
  );
  const measure = setInterval(() => {
    void exceedsLimit(folder, limit).then(exceeds => exceeds && stop(tooLarge));
  }, MEASURE_INTERVAL_MS);
  const status = await new Promise<number | string>(resolve => {
    child.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "ESPAWN"));
    child.on("close", code => resolve(code ?? "EKILLED"));
  });
  clearTimeout(timer);
  clearInterval(measure);
  if (stopped !== undefined) return stopped;
  if (status === 0) return (await exceedsLimit(folder, limit)) ? tooLarge : null;
  return readFailure(output, errors) ?? { code: String(status), text: errors.slice(-2000) };
}

function readFailure(output: string, errors: string): NpmFailure | null {
  try {
    const { error } = JSON.parse(output.slice(output.indexOf("{")));
    return { code: String(error.code), text: `${error.summary} ${error.detail}` };
  } catch {
    const code = /npm (?:error|ERR!) code (\w+)/.exec(errors)?.[1];
    return code === undefined ? null : { code, text: errors.slice(-2000) };
  }
}
