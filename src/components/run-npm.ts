import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import { giveWay } from "../fairness/niceness.ts";
import { exceedsLimit, type FolderLimit } from "../lib/folders.ts";
import { loadLater } from "../lib/lazy.ts";
import { LIMITS } from "../limits/catalogue.ts";

/** npm's error code (`E404`, `ETARGET`, `ENOTFOUND`, …) and its message, for the log. */
export interface NpmFailure {
  code: string;
  text: string;
}

const TIMEOUT_MS = 120_000;
/** The code of the failure when npm took longer. */
export const NPM_TIMEOUT = "ENPMTIMEOUT";
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

/** Settings for certificates and the registry. npm's other settings could let it reach or run something else. */
const KEPT =
  /^(PATH|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|npm_config_(registry|cafile|ca|strict[-_]ssl))$/i;

const PUBLIC_REGISTRY = "https://registry.npmjs.org/";

/** The largest common package, with all services of a cloud provider, has about 200 MB. */
export const PACKAGES_LIMIT: FolderLimit = { maxBytes: LIMITS.packageSetBytes.value, maxEntries: 100_000 };

export interface NpmOptions {
  /** The operator's environment; npm receives only the variables that `npmEnvironment` keeps. */
  environment?: NodeJS.ProcessEnv | undefined;
  /** An `.npmrc` of the operator, for a registry that needs a token; without it npm reads none. */
  npmrc?: string | undefined;
  /** Hosts that npm may reach besides its registries, each as `host` or `host:port`: where these keep their archives. */
  hosts?: readonly string[] | undefined;
  /** npm's own cache. */
  cacheFolder: string;
  limit?: FolderLimit | undefined;
  /** 120 s by default. */
  timeoutMs?: number | undefined;
}

/**
 * Returns npm's variables: PATH, its registry and certificates. Its home is the folder it installs into, so that it
 * finds no settings and tokens of the operator there.
 */
export function npmEnvironment(environment: NodeJS.ProcessEnv, home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(([name]) => KEPT.test(name));
  const path = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
  return { PATH: path, ...Object.fromEntries(kept), HOME: home };
}

/** Returns `host:port` of every host that npm may reach: its registries, and those that the operator names. */
async function registryHosts({ environment = {}, npmrc, hosts = [] }: NpmOptions): Promise<Set<string>> {
  const named = Object.entries(environment).find(([name]) => /^npm_config_registry$/i.test(name))?.[1];
  const settings = npmrc === undefined ? "" : await readFile(npmrc, "utf8");
  const inFile = [...settings.matchAll(/^\s*(?:@[^:=\s]+:)?registry\s*=\s*["']?([^\s"']+)/gm)].map(
    ([, url = ""]) => url,
  );
  const registries = [PUBLIC_REGISTRY, named ?? "", ...inFile].filter(url => URL.canParse(url));
  return new Set([
    ...registries.map(hostAndPort),
    ...hosts.map(host => (/:\d+$/.test(host) ? host : `${host}:443`)),
  ]);
}

/**
 * Runs `npm install` for the package.json in `folder`, for at most 120 s and up to a limit of its size. npm reaches only
 * the registry, whatever its version is and whatever the packages name. Returns null if it succeeds.
 */
export async function runNpm(folder: string, options: NpmOptions): Promise<NpmFailure | null> {
  const { environment = {}, limit = PACKAGES_LIMIT } = options;
  const proxy = await openRegistryProxy({ hosts: await registryHosts(options), environment });
  try {
    const failure = await install(folder, proxy, options, limit);
    if (failure === null || proxy.rejected.size === 0) return failure;
    return { code: "EALLOWREMOTE", text: `${failure.text} (${[...proxy.rejected].join(", ")})` };
  } finally {
    await proxy.close();
  }
}

function settingsOf(folder: string, proxy: RegistryProxy, { npmrc, cacheFolder }: NpmOptions): string[] {
  // Files that don't exist; npm stops if both are the same.
  const [none, neither] = [join(folder, ".no-npmrc"), join(folder, ".no-global-npmrc")];
  return [
    `--prefix=${folder}`,
    `--cache=${cacheFolder}`,
    "--logs-max=0",
    `--userconfig=${npmrc === undefined ? none : resolve(npmrc)}`,
    `--globalconfig=${neither}`,
    `--proxy=${proxy.url}`,
    `--https-proxy=${proxy.url}`,
    "--noproxy=",
  ];
}

async function install(
  folder: string,
  proxy: RegistryProxy,
  options: NpmOptions,
  limit: FolderLimit,
): Promise<NpmFailure | null> {
  const child = spawn("npm", [...ARGUMENTS, ...settingsOf(folder, proxy, options)], {
    cwd: folder,
    env: npmEnvironment(options.environment ?? {}, folder),
    stdio: ["ignore", "pipe", "pipe"],
    // Its own process group, so that its children are killed too.
    detached: true,
  });
  if (child.pid !== undefined) giveWay(child.pid);
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
  const { timeoutMs = TIMEOUT_MS } = options;
  const timer = setTimeout(
    () => stop({ code: NPM_TIMEOUT, text: `npm took more than ${timeoutMs / 1000} s` }),
    timeoutMs,
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
    const text = `${error.summary} ${error.detail}`;
    // npm gives the exit code of the program that `--no-git` has it run in place of git.
    return { code: /^An unknown git error/.test(text) ? "ENOGIT" : String(error.code), text };
  } catch {
    const code = /npm (?:error|ERR!) code (\w+)/.exec(errors)?.[1];
    return code === undefined ? null : { code, text: errors.slice(-2000) };
  }
}

export interface RegistryProxyOptions {
  /** The hosts that may be reached, each as `host:port`. */
  hosts: ReadonlySet<string>;
  /** Proxy settings of the operator: the proxy that all connections go through, if the machine needs one. */
  environment: NodeJS.ProcessEnv;
}

interface RegistryProxy {
  url: string;
  /** The hosts that npm asked for and that were rejected. */
  rejected: ReadonlySet<string>;
  close(): Promise<void>;
}

/** Returns `host:port` of an http or https URL, as the proxy sees it. */
function hostAndPort(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
}

// For components with packages that this process fetches.
const library = loadLater<typeof import("proxy-chain")>("proxy-chain", import.meta.url);

/**
 * Starts an HTTP proxy on loopback through which npm reaches the registry and nothing else
 * (docs/design.md#egress-guard): npm before version 11 ignores the options that forbid dependencies with an address.
 */
async function openRegistryProxy({ hosts, environment }: RegistryProxyOptions): Promise<RegistryProxy> {
  const { RequestError, Server } = library();
  const rejected = new Set<string>();
  const server = new Server({
    host: "127.0.0.1",
    port: 0,
    prepareRequestFunction({ hostname, port, isHttp }) {
      const host = `${hostname}:${port}`;
      if (!hosts.has(host)) {
        rejected.add(host);
        throw new RequestError("not a host of the npm registry", 403);
      }
      return { upstreamProxyUrl: upstreamProxy(environment, hostname, isHttp) };
    },
  });
  await server.listen();
  return {
    url: `http://127.0.0.1:${server.port}`,
    rejected,
    close: () => server.close(true),
  };
}

/** Returns the operator's proxy for a host, by npm's own settings or the usual variables; null without one. */
function upstreamProxy(environment: NodeJS.ProcessEnv, hostname: string, isHttp: boolean): string | null {
  const read = (...names: string[]) => {
    const found = Object.entries(environment).find(([name]) =>
      names.includes(name.toLowerCase().replaceAll("-", "_")),
    );
    return found?.[1] || undefined;
  };
  const direct = (read("npm_config_noproxy", "no_proxy") ?? "").split(",").map(entry => entry.trim());
  const isDirect = direct.some(entry => {
    const suffix = entry.replace(/^\*?\.?/, "").toLowerCase();
    return entry === "*" || (suffix !== "" && (hostname === suffix || hostname.endsWith(`.${suffix}`)));
  });
  if (isDirect) return null;
  const plain = read("npm_config_proxy", "http_proxy");
  const secure = read("npm_config_https_proxy", "https_proxy") ?? plain;
  return (isHttp ? plain : secure) ?? null;
}
