import { type Static, Type } from "typebox";
import { invalidField } from "../../lib/errors.ts";
import { NullableInteger, NullableText } from "../../lib/schemas.ts";
import { checkServerUrl } from "../check-server-url.ts";
import { defineKind, Password, PemCertificates, ServerAddress, Username } from "../kind.ts";

/** A stream keeps this many entries, or a few more, unless its owner says otherwise. */
const DEFAULT_MAX_LENGTH = 100_000;

const url = ServerAddress("`redis://HOST:6379`, or `rediss://` for TLS; `/1` at its end names a database.");
const Stream = Type.String({ minLength: 1, maxLength: 512, description: "Key of the stream." });
const MaxLength = NullableInteger(
  `The stream is cut to about so many entries, the newest; by default ${DEFAULT_MAX_LENGTH.toLocaleString("en")}.`,
  { minimum: 1, maximum: 10_000_000 },
);
const optional = {
  username: Type.Optional(Username),
  password: Type.Optional(Password),
  max_length: Type.Optional(MaxLength),
  ca: Type.Optional(PemCertificates),
};
const closed = { additionalProperties: false };

const Given = Type.Object({ url, stream: Stream, ...optional }, closed);

/** How a stream is reached, as it is stored. */
export interface RedisStreamSettings {
  url: string;
  username: string | null;
  password: string | null;
  stream: string;
  max_length: number;
  ca: string | null;
}

const Shown = Type.Object(
  {
    url: Type.String(),
    username: NullableText("User name."),
    has_password: Type.Boolean({ description: "The password is never shown." }),
    stream: Type.String({ description: "Key of the stream." }),
    max_length: Type.Integer({ description: "About how many entries the stream keeps." }),
    ca: NullableText("Certificates that are trusted instead of the public ones."),
  },
  { title: "RedisStreamSettings" },
);

/** A stream of a Redis of the account's own. */
export const redisStream = defineKind<typeof Given, RedisStreamSettings>({
  prefix: "ds",
  given: Given,
  changes: Type.Object({ url: Type.Optional(url), stream: Type.Optional(Stream), ...optional }, closed),
  shown: Shown,
  secrets: ["password"],
  show: ({ password, ...settings }): Static<typeof Shown> => ({
    ...settings,
    has_password: password !== null,
  }),
  check: async ({ config }, given, { path }) => {
    const server = checkServerUrl(config, `${path}.url`, given.url, "redis");
    if (!/^\d{0,4}$/.test(server.path)) {
      throw invalidField(
        "body",
        `${path}.url`,
        "must end with the host, its port or the number of a database",
      );
    }
    const settings = {
      url: server.url,
      username: server.username ?? given.username ?? null,
      password: server.password ?? given.password ?? null,
      stream: given.stream,
      max_length: given.max_length ?? DEFAULT_MAX_LENGTH,
      ca: given.ca ?? null,
    };
    return { url: settings.url, settings };
  },
});
