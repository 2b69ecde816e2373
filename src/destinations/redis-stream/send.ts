import type { Socket } from "node:net";
import { Redis } from "ioredis";
import type { Egress } from "../../egress/agent.ts";
import { EgressError } from "../../egress/egress-error.ts";
import type { Kept } from "../../egress/lasting-connections.ts";
import { traceHeaders } from "../../tracing/trace-context.ts";
import { serverOf } from "../check-server-url.ts";
import { openSettings, withoutSecret } from "../kind.ts";
import type { Message, SendToDestination } from "../message.ts";
import { onConnection, ReceivedBound } from "../on-connection.ts";
import { outcomeOf, Rejected } from "../outcome.ts";
import type { RedisStreamSettings } from "./kind.ts";

/** Adds a message to a stream of Redis (docs/destinations.md#redis-streams), whose consumers drop repeats by `id`. */
export const sendToRedisStream: SendToDestination = async (platform, destination, message, signal) => {
  const settings = openSettings<RedisStreamSettings>(platform.secrets, destination);
  const { stream, max_length } = settings;
  return await outcomeOf(signal, async () => {
    const entryId = await onConnection(
      platform,
      { destination, signal },
      () => connectToRedis(platform.egress, settings),
      redis => redis.run("XADD", stream, "MAXLEN", "~", max_length, "*", ...fieldsOf(message)),
    );
    return { status: 200, response: String(entryId) };
  });
};

const fieldsOf = ({ id, eventId, emitterId, eventName, attempt, body, trace }: Message) => [
  ...["id", id],
  ...["event_id", eventId],
  ...["emitter_id", emitterId],
  ...["event_name", eventName],
  ...["attempt", attempt],
  ...["payload", body],
  ...Object.entries(traceHeaders(trace)).flat(),
];

const PORTS = { plain: 6379, tls: 6379 };

/** A connection to a Redis of an account. */
export interface RedisConnection extends Kept {
  /** Runs a command. Throws `Rejected` with what Redis says against it, and EgressError if the connection is lost. */
  run(command: string, ...args: (string | number)[]): Promise<unknown>;
}

/** Opens a connection, signs in and selects the database. Throws as `run` does. */
export async function connectToRedis(
  egress: Pick<Egress, "connect">,
  settings: RedisStreamSettings,
): Promise<RedisConnection> {
  const { host, port, isTls } = serverOf(settings.url, "redis", PORTS);
  const socket = await egress.connect({
    host,
    port,
    ...(isTls && { tls: settings.ca === null ? {} : { ca: settings.ca } }),
  });
  const connection = new Connection(host, socket, settings.password);
  try {
    await connection.start(settings);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** ioredis speaks the protocol; the socket is ours, because it must pass the egress guard. */
class Connection implements RedisConnection {
  readonly #host: string;
  readonly #socket: Socket;
  readonly #redis: Redis;
  readonly #password: string | null;
  /** Of what comes since the last command was sent; absent until it is connected. */
  #bound: ReceivedBound | undefined;
  #failure: EgressError | undefined;

  constructor(host: string, socket: Socket, password: string | null) {
    this.#host = host;
    this.#socket = socket;
    this.#password = password;
    this.#redis = new Redis({
      Connector: class {
        connect = async () => socket;
        check = () => true;
        disconnect = () => socket.destroy();
      } as never,
      lazyConnect: true,
      // A lost connection is a failed attempt, and the next attempt opens another one.
      retryStrategy: null,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      enableReadyCheck: false,
      disableClientInfo: true,
      protocol: 2,
    });
    // Each command fails by itself.
    this.#redis.on("error", () => undefined);
  }

  async start({ url, username, password }: RedisStreamSettings): Promise<void> {
    await this.#redis.connect().catch((error: Error) => {
      throw this.#translate(error);
    });
    this.#bound = new ReceivedBound(this.#socket, "data", () => {
      this.#failure = new EgressError("protocol", `${this.#host} sends more than a reply`);
      this.close();
    });
    if (password !== null) await this.run("AUTH", ...(username === null ? [] : [username]), password);
    const database = Number(new URL(url).pathname.slice(1) || 0);
    if (database > 0) await this.run("SELECT", database);
  }

  async run(command: string, ...args: (string | number)[]): Promise<unknown> {
    this.#bound?.allowReply();
    try {
      return await this.#redis.call(command, ...args);
    } catch (error) {
      throw this.#translate(error as Error);
    }
  }

  isOpen(): boolean {
    return !this.#socket.destroyed && this.#redis.status === "ready";
  }

  close(): void {
    this.#redis.disconnect();
    this.#socket.destroy();
  }

  #translate(error: Error): Error {
    if (this.#failure) return this.#failure;
    if (error.name === "ReplyError") return new Rejected(withoutSecret(error.message, this.#password));
    if (error.name === "ParserError")
      return new EgressError("protocol", `${this.#host} does not speak Redis`, error);
    return new EgressError("reset", `the connection to ${this.#host} was lost`, error);
  }
}
