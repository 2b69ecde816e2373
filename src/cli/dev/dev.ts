import { type HttpPort, openHttpPort } from "./http-port.ts";
import type { DevOptions, Live } from "./live.ts";
import { isUrl, type Looked, loadCode, lookedAtNothing } from "./load.ts";
import { type Local, type LocalSettings, openLocal } from "./local.ts";
import { createPrinter } from "./print.ts";
import { reloadOnSave } from "./reload.ts";
import { openSession } from "./session.ts";
import { requestTaker } from "./take-request.ts";
import { timerText } from "./timer.ts";
import { runByHand, startTicker } from "./trigger.ts";

/** The process around it, as far as `dev` touches it. */
export interface Terminal {
  output: Pick<NodeJS.WriteStream, "write" | "isTTY">;
  /** Calls back for each line typed. */
  onEnter(listener: () => void): void;
  /** Aborted by Ctrl-C. */
  ending: AbortSignal;
}

/**
 * Runs a component here as a source would run: same bundle, sandbox, hooks, dedupe, timer and HTTP events, without
 * stores. Ends with `ending`, or after one run; deactivate is called then. Throws AppError when it can't start, or when
 * the one run failed.
 */
export async function dev(options: DevOptions, settings: LocalSettings, terminal: Terminal): Promise<void> {
  const local = await openLocal(settings, options.allow);
  const closers: (() => Promise<void>)[] = [() => local.close()];
  const work = live(options, settings, terminal, local, closers);
  const ended = new Promise<void>(done => {
    if (terminal.ending.aborted) done();
    terminal.ending.addEventListener("abort", () => done(), { once: true });
  });
  try {
    await Promise.race([work, ended]);
  } finally {
    // What was under way fails by the closing; nobody waits for it any more.
    work.catch(() => undefined);
    for (const close of closers.reverse()) await close();
  }
}

async function live(
  options: DevOptions,
  settings: LocalSettings,
  terminal: Terminal,
  local: Local,
  closers: (() => Promise<void>)[],
): Promise<void> {
  const printer = createPrinter(terminal.output);
  const looked: Looked = lookedAtNothing();
  const code = await loadCode(options, looked, local);
  if (terminal.ending.aborted) return;
  let port: HttpPort | undefined;
  const endpointUrl = () => port?.url ?? null;
  const session = openSession({ sandboxes: local.sandboxes, printer, hookMs: settings.hookMs, endpointUrl });
  closers.push(() => session.stop());
  const source: Live = {
    code,
    session,
    printer,
    options,
    local,
    async openPort() {
      if (port) return;
      port = await openHttpPort(options.port, requestTaker(source, settings.httpResponseWaitMs));
      closers.push(port.close);
    },
  };
  if (code.hasHttp) await source.openPort();
  printer.say("loaded", headOf(source, endpointUrl()));
  await session.start(code);
  if (options.once) return runByHand(source);
  const ticker = startTicker(source);
  closers.push(async () => ticker.stop());
  if (!isUrl(options.what)) {
    const watch = reloadOnSave(source, looked, () => {
      ticker.follow(source.code.timer);
      printer.say("reloaded", headOf(source, endpointUrl()));
    });
    closers.push(async () => watch.close());
  }
  terminal.onEnter(() => {
    runByHand(source).catch((error: Error) => printer.say("refused", error.message));
  });
  printer.say("ready", "Enter runs it now, Ctrl-C ends it");
  return new Promise(() => {});
}

function headOf({ code }: Live, url: string | null): string {
  const { name, version } = code.description;
  const when = [...(code.timer ? [timerText(code.timer)] : []), ...(code.hasHttp && url ? [url] : [])];
  return [`${name} ${version}`, ...when].join(", ");
}
