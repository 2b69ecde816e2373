/** The header in which a request to the exchanges has the address that the component asked for. */
export const URL_HEADER = "x-recorded-url";
/** The status of a request for which there is no recorded response. */
export const NOT_RECORDED = 599;

/**
 * Returns a statement of one line that sends what the component asks by `fetch`, or by `request` and `get` of node:http and node:https, to
 * the exchanges at `port` instead of the address that it names, and lets its clock begin at `now`. It is put before the component's own
 * code, so that the sandbox is the one of every source.
 */
export const recordedHttp = (port: number, now: number | undefined): string =>
  `(${STATEMENT})(${port}, ${now ?? "undefined"});`.replaceAll(/\n\s*/g, " ");

const STATEMENT = `(port, now) => {
  const http = require("node:http");
  const https = require("node:https");
  const exchanges = "http://127.0.0.1:" + port + "/";
  const { fetch, Request, TypeError, Date } = globalThis;
  const redirects = new Set([301, 302, 303, 307, 308]);
  const fetchOnce = async (url, { method, headers, body, signal }) => {
    const all = new Headers(headers);
    all.set("${URL_HEADER}", url);
    const result = await fetch(exchanges, { method, headers: all, body, signal, redirect: "manual" });
    if (result.status === ${NOT_RECORDED}) throw new TypeError(await result.text());
    Object.defineProperty(result, "url", { value: url });
    return result;
  };
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    let url = request.url;
    const asked = { method: request.method, headers: request.headers, signal: request.signal };
    if (request.body) asked.body = Buffer.from(await request.arrayBuffer());
    for (let hops = 0; ; hops += 1) {
      const result = await fetchOnce(url, asked);
      const to = result.headers.get("location");
      if (!redirects.has(result.status) || to === null || request.redirect === "manual") return result;
      if (request.redirect === "error" || hops === 20) throw new TypeError("fetch failed: redirected");
      url = new URL(to, url).href;
      Object.defineProperty(result, "redirected", { value: true });
      if (result.status === 303 || (result.status < 303 && asked.method === "POST")) {
        asked.method = "GET";
        asked.body = undefined;
      }
    }
  };
  const requestDirect = http.request;
  const take = (protocol, given) => {
    const [first, second] = given;
    const url = typeof first === "string" || first instanceof URL ? new URL(first) : undefined;
    const options = (url ? (typeof second === "object" ? second : undefined) : first) ?? {};
    const host = options.hostname ?? options.host ?? url?.hostname ?? "localhost";
    const suffix = options.port ?? url?.port ?? "";
    const path = options.path ?? (url ? url.pathname + url.search : "/");
    const address = (options.protocol ?? url?.protocol ?? protocol) + "//" + host + (suffix === "" ? "" : ":" + suffix) + path;
    const named = Array.isArray(options.headers) ? Object.fromEntries(options.headers) : options.headers;
    const headers = Object.fromEntries(Object.entries(named ?? {}).filter(([name]) => name.toLowerCase() !== "host"));
    headers["${URL_HEADER}"] = new URL(address).href;
    const { method, timeout, signal } = options;
    return requestDirect({ host: "127.0.0.1", port, path: "/", method, timeout, signal, headers }, given.find(one => typeof one === "function"));
  };
  for (const [module, protocol] of [[http, "http:"], [https, "https:"]]) {
    module.request = (...given) => take(protocol, given);
    module.get = (...given) => take(protocol, given).end();
  }
  if (now !== undefined) {
    const began = performance.now();
    const clock = () => now + Math.floor(performance.now() - began);
    globalThis.Date = new Proxy(Date, {
      construct: (real, given, as) => Reflect.construct(real, given.length > 0 ? given : [clock()], as),
      apply: () => new Date(clock()).toString(),
      get: (real, name) => (name === "now" ? clock : Reflect.get(real, name)),
    });
  }
}`;
