import { settlesWithin } from "../../lib/time.ts";
import type { Platform } from "../../platform.ts";
import { type Mailer, openMailer } from "./mailer.ts";
import { sendDueMails } from "./send-mails.ts";

/** How often mails that are due are looked for: one query by an index, of an installation that sends mail. */
const LOOK_MS = 10_000;
/** How long a mail under way may take when its process stops; else another process sends it, again. */
const STOP_MS = 2000;

/** Starts to send the mails that are due, if there is a server to send them by; returns the function that stops it. */
export function startMailing(platform: Platform): () => Promise<void> {
  const { mail, sweepEveryMs } = platform.config;
  if (!mail) return async () => undefined;
  let isStopped = false;
  let mailer: Promise<Mailer> | undefined;
  let turn: Promise<unknown> | undefined;
  const look = async () => {
    mailer ??= openMailer(mail.server);
    await sendDueMails(platform, await mailer, () => isStopped);
  };
  const timer = setInterval(
    () => {
      // A turn that waits for a slow server is not joined by another one.
      turn ??= look()
        .catch((error: unknown) => {
          if (!isStopped) platform.log.warn({ err: error }, "mails about alerts wait for a store");
        })
        .finally(() => {
          turn = undefined;
        });
    },
    Math.min(LOOK_MS, sweepEveryMs),
  );
  return async () => {
    isStopped = true;
    clearInterval(timer);
    await settlesWithin(Promise.resolve(turn), STOP_MS);
    (await mailer?.catch(() => undefined))?.close();
  };
}
