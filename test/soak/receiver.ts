import { Webhook as Verifier } from "standardwebhooks";
import {
  type Counted,
  type CountingReceiver,
  type Reaction,
  startCountingReceiver,
} from "../faults/counting-receiver.ts";
import type { Model } from "./model.ts";
import { shareOf } from "./seeded-random.ts";

/** What `$errors` events are called: the key of the event on which the run threw, and this. */
export const THROWN = "!";

/** How an endpoint behaves: shares of its requests that fail, are slow, or never get a response. */
interface Temper {
  fails: number;
  slow: number;
  slowMs: number;
  hangs: number;
}

const CALM: Temper = { fails: 0.02, slow: 0.02, slowMs: 1500, hangs: 0 };
const TEMPERS: Record<string, Temper> = {
  "/flaky": { fails: 0.3, slow: 0.1, slowMs: 3000, hangs: 0.005 },
  "/failing": { fails: 1, slow: 0, slowMs: 0, hangs: 0 },
  "/ordered": { fails: 0.05, slow: 0.05, slowMs: 500, hangs: 0 },
};
const QUICK_MS = 10;

/** What happens to a request is decided by the seed, the event and the attempt alone. */
function reaction(seed: string, { path, key, requests }: Counted, mayHang: boolean): Reaction {
  const temper = TEMPERS[path] ?? CALM;
  const draw = shareOf(seed, path, key, requests);
  const afterMs =
    shareOf(draw) < temper.slow ? shareOf(draw, 1) * temper.slowMs : shareOf(draw, 1) * QUICK_MS;
  if (draw < temper.fails) return { status: 503, afterMs };
  if (mayHang && draw < temper.fails + temper.hangs) return { status: "hang", afterMs };
  return { status: 200, afterMs };
}

/** Starts the endpoints of all webhooks, which verify what they receive. */
export async function startSoakReceiver(
  model: Model,
  { seed, mayHang }: { seed: string; mayHang: () => boolean },
): Promise<CountingReceiver> {
  const verify = ({ path, key, headers, body }: Counted): void => {
    const webhook = model.webhookAt(path);
    if (!webhook) {
      model.observed.push({ what: "requests without a webhook", example: `${key} at ${path}` });
      return;
    }
    try {
      new Verifier(webhook.signingKey).verify(body, headers as Record<string, string>);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      model.observed.push({ what: "wrong signatures", example: `${key} at ${path}: ${reason}` });
    }
  };
  return startCountingReceiver({
    keyOf: event => {
      const original = event.original_event as { body?: { key?: unknown } } | undefined;
      return original ? `${original.body?.key}${THROWN}` : String(event.key);
    },
    react: request => {
      verify(request);
      return reaction(seed, request, mayHang());
    },
  });
}
