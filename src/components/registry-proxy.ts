import { RequestError, Server } from "proxy-chain";

export interface RegistryProxyOptions {
  /** The hosts that may be reached, each as `host:port`. */
  hosts: ReadonlySet<string>;
  /** Proxy settings of the operator: the proxy that all connections go through, if the machine needs one. */
  environment: NodeJS.ProcessEnv;
}

export interface RegistryProxy {
  url: string;
  /** The hosts that npm asked for and that were rejected. */
  rejected: ReadonlySet<string>;
  close(): Promise<void>;
}

/** Returns `host:port` of an http or https URL, as the proxy sees it. */
export function hostAndPort(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
}

/**
 * Starts an HTTP proxy on loopback through which npm reaches the registry and nothing else
 * (docs/design.md#egress-guard): npm before version 11 ignores the options that forbid dependencies with an address.
 */
export async function openRegistryProxy({
  hosts,
  environment,
}: RegistryProxyOptions): Promise<RegistryProxy> {
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
