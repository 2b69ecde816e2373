import { type Static, Type } from "typebox";
import { checkUrl } from "../../egress/check-url.ts";
import { invalidField } from "../../lib/errors.ts";
import { patternInWords } from "../../lib/schemas.ts";
import { checkPublicHost } from "../../webhooks/check-webhook-url.ts";
import { defineKind, NullableString, ServerAddress } from "../kind.ts";
import { DEFAULT_KEY, keyProblem } from "./send.ts";

const url = ServerAddress(
  "Address of the bucket, with its name in the host or as the path: `https://BUCKET.s3.eu-central-1.amazonaws.com` or " +
    "`https://HOST/BUCKET`.",
);
const Region = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: patternInWords("^[A-Za-z0-9-]+$", "must have only letters, digits and -"),
  description: "Such as `eu-central-1`.",
});
const AccessKeyId = Type.String({ minLength: 1, maxLength: 256, description: "Id of the access key." });
const SecretKey = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "Secret of the access key; stored encrypted and never shown.",
});
const Key = NullableString(
  512,
  `Pattern of the objects' keys; by default \`${DEFAULT_KEY}\`. It has \`{id}\` (the delivery's), or \`{emitter_id}\` and ` +
    "`{event_id}`, so that an event overwrites no other; and may have `{date}`, `{hour}` and `{event_name}`.",
);
const closed = { additionalProperties: false };

const Given = Type.Object(
  { url, region: Region, access_key_id: AccessKeyId, secret_access_key: SecretKey, key: Type.Optional(Key) },
  closed,
);

/** How a bucket is reached, as it is stored. */
export interface S3Settings {
  url: string;
  region: string;
  access_key_id: string;
  secret_access_key: string;
  key: string;
}

const Shown = Type.Object(
  {
    url: Type.String(),
    region: Type.String(),
    access_key_id: Type.String({ description: "The secret of the key is never shown." }),
    key: Type.String({ description: "Pattern of the objects' keys." }),
  },
  { title: "S3Settings" },
);

/** A bucket of a store that speaks S3. */
export const s3 = defineKind<typeof Given, S3Settings>({
  prefix: "ds",
  given: Given,
  changes: Type.Object(
    {
      url: Type.Optional(url),
      region: Type.Optional(Region),
      access_key_id: Type.Optional(AccessKeyId),
      secret_access_key: Type.Optional(SecretKey),
      key: Type.Optional(Key),
    },
    closed,
  ),
  shown: Shown,
  secrets: ["secret_access_key"],
  show: ({ secret_access_key: _, ...shown }): Static<typeof Shown> => shown,
  check: async ({ config }, given, { path }) => {
    const field = { in: "body", path: `${path}.url` } as const;
    const { hostname, search, hash } = checkUrl(given.url, field);
    if (search || hash) throw invalidField("body", field.path, "must have no query and no fragment");
    checkPublicHost(config, hostname, field);
    if (given.secret_access_key === undefined) {
      throw invalidField("body", `${path}.secret_access_key`, "must be given again with another url");
    }
    const key = given.key || DEFAULT_KEY;
    const problem = keyProblem(key);
    if (problem) throw invalidField("body", `${path}.key`, problem);
    const { region, access_key_id, secret_access_key } = given;
    return { url: given.url, settings: { url: given.url, region, access_key_id, secret_access_key, key } };
  },
});
