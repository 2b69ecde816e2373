/** Globals that undici provides. They are replaced together, because `instanceof` fails between two implementations. */
const NAMES = ["fetch", "Headers", "Request", "Response", "FormData", "WebSocket"] as const;

type Undici = Record<(typeof NAMES)[number], unknown>;

/**
 * Replaces Deno's own `fetch` and related globals by undici's. Deno's would not use the gateway, so their connections
 * would be denied. undici is loaded at first use, because loading takes 30 ms of a cold start and most components use
 * only node:http, through axios.
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
