/** What a program reaches through globals and undici offers; all of one make, or `instanceof` would fail. */
const NAMES = ["fetch", "Headers", "Request", "Response", "FormData", "WebSocket", "EventSource"] as const;

type Undici = Record<(typeof NAMES)[number], unknown>;

/**
 * Puts undici's `fetch` and its kin in place of Deno's own, which would go round the gateway and so be refused.
 * Loaded at first use: most components only use node:http through axios, and it costs 30 ms of a cold start.
 */
export function replaceFetch(): void {
  let loaded: Undici | undefined;
  const undici = () => {
    loaded ??= require("undici") as Undici;
    return loaded;
  };
  for (const name of NAMES) {
    Object.defineProperty(globalThis, name, {
      configurable: true,
      enumerable: false,
      get: () => undici()[name],
      set: (value: unknown) => {
        Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
      },
    });
  }
}
