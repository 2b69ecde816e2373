import type { DeliveryStore } from "./delivery-store.ts";
import type { HeadersLike } from "./read-headers.ts";
import { type ReceivedDelivery, type VerifyOptions, verify } from "./verify.ts";
import { WebhookError } from "./webhook-error.ts";

/** How a receiver treats requests. */
export interface ReceiveOptions extends VerifyOptions {
  /** The webhook's signing key, `whsec_…`; several while keys are exchanged. */
  secrets: string | readonly string[];
  /** Handles each delivery once. Without one, your handler sees every attempt. */
  store?: DeliveryStore;
  /** Larger bodies are rejected. Default: 2 MB. */
  maxBytes?: number;
  /** Called for each request that is rejected, with the reason that its sender gets too. */
  onRejected?: (error: WebhookError) => void;
}

/** Handles a delivery. If it throws, the response is 500, and the delivery comes again. */
export type DeliveryHandler<Payload = unknown> = (delivery: ReceivedDelivery<Payload>) => unknown;

/** What to respond. */
export interface Outcome {
  status: number;
  /** For the attempt's log. */
  text: string;
  headers: Record<string, string>;
}

const HANDLING_RETRY_SECONDS = 30;

const outcome = (status: number, text: string, headers: Record<string, string> = {}): Outcome => ({
  status,
  text,
  headers: { "content-type": "text/plain; charset=utf-8", ...headers },
});

/**
 * Verifies a request and has it handled, once per delivery if there is a store. Returns what to respond; throws what the
 * handler or the store throws, and what is a fault of the receiver itself.
 */
export async function receive<Payload>(
  read: () => Promise<{ body: string | Uint8Array; headers: HeadersLike }>,
  options: ReceiveOptions,
  handle: DeliveryHandler<Payload>,
): Promise<Outcome> {
  let delivery: ReceivedDelivery<Payload>;
  try {
    const { body, headers } = await read();
    delivery = await verify<Payload>(body, headers, options.secrets, options);
    if (options.store && delivery.id === "") {
      throw new WebhookError(
        "header-missing",
        "webhook-id: the request has no such header, and the store needs it",
      );
    }
  } catch (error) {
    if (!(error instanceof WebhookError) || error.status === 500) throw error;
    options.onRejected?.(error);
    // What is left of a body that is too large is not read.
    return outcome(error.status, error.message, error.code === "too-large" ? { connection: "close" } : {});
  }
  return options.store ? await handleOnce(delivery, options.store, handle) : await handled(delivery, handle);
}

async function handled<Payload>(
  delivery: ReceivedDelivery<Payload>,
  handle: DeliveryHandler<Payload>,
): Promise<Outcome> {
  await handle(delivery);
  return outcome(200, "handled");
}

async function handleOnce<Payload>(
  delivery: ReceivedDelivery<Payload>,
  store: DeliveryStore,
  handle: DeliveryHandler<Payload>,
): Promise<Outcome> {
  const claim = await store.claim(delivery.id);
  if (claim === "handled") return outcome(200, "handled before");
  if (claim === "handling") {
    // Not a success: the request that handles it may fail, and then this delivery must come again.
    return outcome(409, "being handled by another request", {
      "retry-after": String(HANDLING_RETRY_SECONDS),
    });
  }
  try {
    await handle(delivery);
  } catch (error) {
    await store.release(delivery.id);
    throw error;
  }
  await store.markHandled(delivery.id);
  return outcome(200, "handled");
}
