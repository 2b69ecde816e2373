import { type Static, Type } from "typebox";
import { invalidField } from "../../lib/errors.ts";
import { checkServerUrl } from "../check-server-url.ts";
import { defineKind, NullableString, Password, PemCertificates, ServerAddress, Username } from "../kind.ts";

const url = ServerAddress("`amqp://HOST`, or `amqps://` for TLS; `/name` at its end names a virtual host.");
/** AMQP's short strings have up to 255 bytes. */
const SHORT = 255;
const closed = { additionalProperties: false };

const settings = {
  username: Type.Optional(Username),
  password: Type.Optional(Password),
  queue: Type.Optional(NullableString(SHORT, "The queue, which exists. Either this or `exchange`.")),
  exchange: Type.Optional(
    NullableString(SHORT, "The exchange, which exists and has a queue for each event."),
  ),
  routing_key: Type.Optional(
    NullableString(SHORT, "With `exchange`: the key by which it finds queues; none by default."),
  ),
  ca: Type.Optional(PemCertificates),
};

const Given = Type.Object({ url, ...settings }, closed);

/** How a broker is reached, as it is stored. */
export interface RabbitMqSettings {
  /** Its path is the virtual host, percent-encoded. */
  url: string;
  username: string | null;
  password: string | null;
  queue: string | null;
  exchange: string | null;
  routing_key: string | null;
  ca: string | null;
}

const Nullable = (description: string) =>
  Type.Unsafe<string | null>({ type: ["string", "null"], description });

const Shown = Type.Object(
  {
    url: Type.String(),
    username: Nullable("User name."),
    has_password: Type.Boolean({ description: "The password is never shown." }),
    queue: Nullable("The queue."),
    exchange: Nullable("The exchange."),
    routing_key: Nullable("The routing key."),
    ca: Nullable("Certificates that are trusted instead of the public ones."),
  },
  { title: "RabbitMqSettings" },
);

/** A queue, or an exchange, of a RabbitMQ of the account's own. */
export const rabbitMq = defineKind<typeof Given, RabbitMqSettings>({
  prefix: "ds",
  given: Given,
  changes: Type.Object({ url: Type.Optional(url), ...settings }, closed),
  shown: Shown,
  secrets: ["password"],
  show: ({ password, ...shown }): Static<typeof Shown> => ({ ...shown, has_password: password !== null }),
  check: async ({ config }, given, { path }) => {
    const server = checkServerUrl(config, `${path}.url`, given.url, "amqp");
    const { queue = null, exchange = null, routing_key = null } = given;
    if (!queue && !exchange)
      throw invalidField("body", `${path}.queue`, "either queue or exchange is required");
    if (queue && exchange)
      throw invalidField("body", `${path}.exchange`, "must be left out if queue is given");
    if (queue && routing_key)
      throw invalidField("body", `${path}.routing_key`, "belongs to an exchange, not to a queue");
    for (const [name, text] of Object.entries({ queue, exchange, routing_key })) {
      if (Buffer.byteLength(text ?? "") > SHORT)
        throw invalidField("body", `${path}.${name}`, `must have at most ${SHORT} bytes`);
    }
    return {
      url: server.url,
      settings: {
        url: server.url,
        username: server.username ?? given.username ?? null,
        password: server.password ?? given.password ?? null,
        queue: queue || null,
        exchange: exchange || null,
        routing_key: routing_key || null,
        ca: given.ca ?? null,
      },
    };
  },
});
