import { isUrl } from "../input.ts";
import { createRequestHandler, type HttpPort, openHttpPort } from "./http-port.ts";
import { loadCode, newWatchedPaths } from "./load.ts";
import { type LocalServices, type LocalSettings, openLocalServices } from "./local-services.ts";
import { createPrinter } from "./print.ts";
import { reloadOnSave } from "./reload.ts";
import { type DevOptions, type DevSource, Session } from "./session.ts";
import { runByHand, startTicker, timerText } from "./ticker.ts";

/** The parts of the process around it that `dev` uses. */
export interface Terminal {
  output: Pick<NodeJS.WriteStream, "write" | "isTTY">;
  /** Calls back for each line typed. */
  onEnter(listener: () => void): void;
  /** Aborted by Ctrl-C. */
  ending: AbortSignal;
}

/**
 * Runs a component on this machine as a source would run, without stores: the same bundle, sandbox, hooks, dedupe,
 * timer and HTTP events. Ends when `ending` aborts, or after one run with `once`; deactivate is called at the end.
 * Throws AppError if the source can't be started, or if the one run failed.
 */
export async function dev(options: DevOptions, settings: LocalSettings, terminal: Terminal): Promise<void> {
  const services = await openLocalServices(settings, options.allow);
  const closers: (() => Promise<void>)[] = [() => services.close()];
  const work = runSource(options, settings, terminal, services, closers);
  const ended = new Promise<void>(resolve => {
    if (terminal.ending.aborted) resolve();
    terminal.ending.addEventListener("abort", () => resolve(), { once: true });
  });
  try {
    await Promise.race([work, ended]);
  } finally {
    // Closing makes work in progress fail, which must not be an unhandled rejection.
    work.catch(() => undefined);
    for (const close of closers.reverse()) await close();
  }
}

/** Never resolves without `once`. Adds to `closers` what must be closed, last first, at the end. */
async function runSource(
  options: DevOptions,
  settings: LocalSettings,
  terminal: Terminal,
  services: LocalServices,
  closers: (() => Promise<void>)[],
): Promise<void> {
  const printer = createPrinter(terminal.output);
  const watched = newWatchedPaths();
  const code = await loadCode(options, watched, services);
  if (terminal.ending.aborted) return;
  let port: HttpPort | undefined;
  const endpointUrl = () => port?.url ?? null;
  const { sandboxes } = services;
  const session = new Session({ sandboxes, printer, hookMs: settings.hookMs, endpointUrl });
  closers.push(() => session.stop());
  const source: DevSource = {
    code,
    session,
    printer,
    options,
    services,
    async openPort() {
      if (port) return;
      port = await openHttpPort(options.port, createRequestHandler(source, settings.httpResponseWaitMs));
      closers.push(port.close);
    },
  };
  if (code.hasHttp) await source.openPort();
  printer.say("loaded", describeSource(source, endpointUrl()));
  await session.start(code);
  if (options.once) return runByHand(source);
  const ticker = startTicker(source);
  closers.push(async () => ticker.stop());
  if (!isUrl(options.location)) {
    const watch = reloadOnSave(source, watched, () => {
      ticker.follow(source.code.timer);
      printer.say("reloaded", describeSource(source, endpointUrl()));
    });
    closers.push(async () => watch.close());
  }
  terminal.onEnter(() => {
    runByHand(source).catch((error: Error) => printer.say("rejected", error.message));
  });
  printer.say("ready", "press Enter to run it now, Ctrl-C to stop");
  return new Promise(() => {});
}

/** Returns `My source 1.0.0, every 15 s, http://127.0.0.1:4000`. */
function describeSource({ code }: DevSource, url: string | null): string {
  const { name, version } = code.description;
  const parts = [`${name} ${version}`];
  if (code.timer) parts.push(timerText(code.timer));
  if (code.hasHttp && url) parts.push(url);
  return parts.join(", ");
}
