import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Starts a server that passes each request on with an API key, for programs that can't send one. What names this server, as `Host`
 * and `Origin` do, names the other one then; any other name stays.
 */
export async function startKeyProxy(target: URL, apiKey: string) {
  const server = createServer((received, response) => {
    const { port } = server.address() as AddressInfo;
    const renamed = (value: string | undefined) =>
      value?.replace(/^(http:\/\/)?(127\.0\.0\.1|localhost):(\d+)$/, (name, scheme = "", _host, named) =>
        named === String(port) ? scheme + target.host : name,
      );
    const { host, origin } = received.headers;
    const headers = {
      ...received.headers,
      host: renamed(host),
      ...(origin !== undefined && { origin: renamed(origin) }),
      authorization: `Bearer ${apiKey}`,
    };
    const onward = request(target, { method: received.method ?? "GET", headers }, answered => {
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(response);
    });
    onward.on("error", () => response.destroy());
    received.pipe(onward);
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${target.pathname}`,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
