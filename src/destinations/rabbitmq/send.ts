import { isIP, type Socket } from "node:net";
import type { ChannelModel, ConfirmChannel, Message as ReturnedMessage } from "amqplib";
import type { Egress } from "../../egress/agent.ts";
import { EgressError, toEgressError } from "../../egress/egress-error.ts";
import type { Kept } from "../../egress/lasting-connections.ts";
import { loadLater } from "../../lib/lazy.ts";
import { traceHeaders } from "../../tracing/trace-context.ts";
import { timeoutMsOf } from "../../webhooks/delivery-settings.ts";
import { serverOf } from "../check-server-url.ts";
import { openSettings, withoutSecret } from "../kind.ts";
import type { Message, SendToDestination } from "../message.ts";
import { onConnection, ReceivedBound } from "../on-connection.ts";
import { outcomeOf, Rejected } from "../outcome.ts";
import type { RabbitMqSettings } from "./kind.ts";

/** Publishes a message to a RabbitMQ (docs/destinations.md#rabbitmq), whose consumers drop repeats by `message_id`. */
export const sendToRabbitMq: SendToDestination = async (platform, destination, message, signal, atMs) => {
  const settings = openSettings<RabbitMqSettings>(platform.secrets, destination);
  const { queue, exchange, routing_key } = settings;
  const published = {
    exchange: exchange ?? "",
    routingKey: queue ?? routing_key ?? "",
    id: `${message.id}-${message.attempt}`,
    body: message.body,
    properties: propertiesOf(message, atMs),
  };
  return await outcomeOf(signal, async () => {
    await onConnection(
      platform,
      { destination, signal },
      () => connectToRabbitMq(platform.egress, settings, timeoutMsOf(platform.config, destination)),
      broker => broker.publish(published),
    );
    return { status: 200, response: "confirmed" };
  });
};

const propertiesOf = ({ id, eventId, emitterId, eventName, attempt, trace }: Message, atMs: number) => ({
  messageId: id,
  contentType: "application/json",
  timestamp: Math.floor(atMs / 1000),
  appId: "headwater",
  headers: {
    "x-headwater-event-id": eventId,
    "x-headwater-emitter-id": emitterId,
    "x-headwater-event-name": eventName,
    "x-headwater-attempt": attempt,
    ...traceHeaders(trace),
  },
});

type Amqp = typeof import("amqplib");

const amqp = loadLater<Amqp>("amqplib", import.meta.url);

const PORTS = { plain: 5672, tls: 5671 };
/** A broker that sends nothing for two of them is gone. Seconds. */
const HEARTBEAT_S = 10;
/** How long the broker may take to agree to the end of a connection. */
const CLOSE_MS = 1000;

export interface Published {
  exchange: string;
  routingKey: string;
  /** Under which a queue's absence is reported: unique among what is published at the same time. */
  id: string;
  body: string;
  properties: Record<string, unknown>;
}

/** A connection to a RabbitMQ of an account, with one channel in confirm mode. */
export interface RabbitMqConnection extends Kept {
  /** Publishes a message and waits until the broker has it. Throws `Rejected`, and EgressError if the connection is lost. */
  publish(message: Published): Promise<void>;
}

/**
 * Opens a connection and a channel, through the egress guard: to the addresses that it has checked, one after another, or over the
 * proxy, which only TLS can do, because the library connects by itself otherwise.
 * Throws `Rejected` with what the broker says against it, and EgressError.
 */
export async function connectToRabbitMq(
  egress: Pick<Egress, "checkAddresses" | "connect" | "isProxied">,
  settings: RabbitMqSettings,
  timeoutMs: number,
): Promise<RabbitMqConnection> {
  const { host, port, isTls } = serverOf(settings.url, "amqp", PORTS);
  if (egress.isProxied && !isTls) {
    throw new EgressError("connect", "amqp:// can't go through the server's proxy: use amqps://");
  }
  const socket = egress.isProxied ? await egress.connect({ host, port }) : undefined;
  const addresses = socket ? [host] : await egress.checkAddresses(host, port);
  const until = Date.now() + timeoutMs;
  let failure: unknown;
  for (const [i, address] of addresses.entries()) {
    // An address that does not respond must leave time for the remaining ones.
    const timeout = Math.max(1, Math.floor((until - Date.now()) / (addresses.length - i)));
    try {
      const model = await amqp().connect(
        {
          protocol: isTls ? "amqps" : "amqp",
          hostname: address,
          port,
          username: settings.username ?? "guest",
          password: settings.password ?? "guest",
          vhost: new URL(settings.url).pathname.slice(1) || "/",
          heartbeat: HEARTBEAT_S,
        },
        // Over a socket that is connected the library only starts TLS.
        { timeout, noDelay: true, ...(isTls && tlsOptions(host, settings.ca)), ...(socket && { socket }) },
      );
      return await openChannel(model, host, settings.password);
    } catch (error) {
      failure = translate(error, host, settings.password);
      // The broker itself does not accept it: another address of it would neither.
      if (failure instanceof Rejected) break;
    }
  }
  throw failure;
}

const tlsOptions = (host: string, ca: string | null) => ({
  // The certificate must be that of the name, whatever its address; there is no such extension for an address.
  ...(isIP(host) ? {} : { servername: host }),
  ...(ca !== null && { ca: [ca] }),
});

async function openChannel(model: ChannelModel, host: string, secret: string | null): Promise<Connection> {
  // Each publication fails by itself.
  model.on("error", () => undefined);
  try {
    return new Connection(model, await model.createConfirmChannel(), host, secret);
  } catch (error) {
    end(model);
    throw error;
  }
}

class Connection implements RabbitMqConnection {
  readonly #model: ChannelModel;
  readonly #channel: ConfirmChannel;
  readonly #host: string;
  readonly #secret: string | null;
  /** What was returned because no queue takes it, by id, with the broker's reason. */
  readonly #returned = new Map<string, string>();
  #isOpen = true;
  /** Why the broker has closed the channel. */
  #reason: Error | undefined;
  /** Of what the broker sends: what it was sent, which it may return, and its own frames. */
  readonly #bound: ReceivedBound;

  constructor(model: ChannelModel, channel: ConfirmChannel, host: string, secret: string | null) {
    this.#model = model;
    this.#channel = channel;
    this.#host = host;
    this.#secret = secret;
    for (const ended of [model, channel]) {
      ended.on("error", (error: Error) => {
        this.#reason ??= error;
      });
      ended.on("close", () => {
        this.#isOpen = false;
      });
    }
    channel.on("return", ({ fields, properties }: ReturnedMessage) => {
      this.#returned.set(String(properties.correlationId), `${(fields as { replyText?: string }).replyText}`);
    });
    this.#bound = new ReceivedBound(socketOf(model), "readable", () => {
      this.#reason = new EgressError("protocol", `${host} sends more than it was sent`);
      this.close();
    });
  }

  async publish({ exchange, routingKey, id, body, properties }: Published): Promise<void> {
    const content = Buffer.from(body);
    this.#bound.allowReturned(content.length);
    const options = { ...properties, correlationId: id, mandatory: true, persistent: true };
    try {
      await new Promise<void>((resolve, reject) => {
        this.#channel.publish(exchange, routingKey, content, options, error =>
          error ? reject(error) : resolve(),
        );
      });
    } catch (error) {
      throw this.#whyNot(error);
    }
    // The broker returns a message before it confirms it.
    const returned = this.#returned.get(id);
    if (returned === undefined) return;
    this.#returned.delete(id);
    const to =
      exchange === "" ? `queue ${routingKey}` : `queue of exchange ${exchange} for key "${routingKey}"`;
    throw new Rejected(`${returned}: there is no ${to}`);
  }

  isOpen(): boolean {
    return this.#isOpen;
  }

  close(): void {
    this.#isOpen = false;
    end(this.#model);
  }

  #whyNot(error: unknown): Error {
    if (this.#reason) return translate(this.#reason, this.#host, this.#secret);
    if (this.#isOpen) return new Rejected("the broker does not accept the message now");
    return translate(error, this.#host, this.#secret);
  }
}

const socketOf = ({ connection }: ChannelModel): Socket =>
  (connection as unknown as { stream: Socket }).stream;

/** Ends a connection in agreement with the broker, which would log another end; at once if it does not respond. */
function end(model: ChannelModel): void {
  const socket = socketOf(model);
  const timer = setTimeout(() => socket.destroy(), CLOSE_MS).unref();
  const ended = () => {
    clearTimeout(timer);
    socket.destroy();
  };
  model.close().then(ended, ended);
}

/** Returns what a broker said as `Rejected`, and any other failure as EgressError. */
function translate(error: unknown, host: string, secret: string | null): Error {
  if (error instanceof Rejected || error instanceof EgressError) return error;
  const { message, code } = error as { message: string; code?: unknown };
  const said = /by server: (.*)/s.exec(message)?.[1];
  if (said !== undefined) return new Rejected(withoutSecret(said, secret));
  if (message.includes("got <ConnectionClose")) {
    return new Rejected("there is no such virtual host, or the user has no right to it");
  }
  if (message === "connect ETIMEDOUT")
    return new EgressError("timeout", `connecting to ${host} timed out`, error);
  if (typeof code === "string") return toEgressError(error, host);
  return new EgressError("reset", `the connection to ${host} was lost`, error);
}
