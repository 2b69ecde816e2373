import { type Static, type TProperties, Type } from "typebox";
import { OrNull } from "../lib/schemas.ts";
import { LIMITS } from "../limits/catalogue.ts";

/**
 * How a request is verified, as data only: no code and no patterns of its author, and every part bounded. It is the schema at
 * each door that takes one (docs/verify.md#a-scheme-of-your-own).
 */

const MAX_PLACES = 3;
const MAX_PARTS = 6;
const MAX_FIELDS = 5;
const MAX_CHALLENGES = 4;
const MAX_SHORT = 40;
/** Longer waits are for replays, which a tolerance is there to stop. */
const MAX_TOLERANCE_S = 86_400;

const Closed = <T extends TProperties>(
  properties: T,
  options: { title?: string; description?: string } = {},
) => Type.Object(properties, { additionalProperties: false, ...options });
const OneOf = <const T extends readonly string[]>(values: T, description?: string) =>
  Type.Unsafe<T[number]>({
    type: "string",
    enum: values,
    ...(description !== undefined && { description }),
  });
const Text = (description: string) =>
  Type.String({ minLength: 1, maxLength: LIMITS.verifyTextChars.value, description });
const Short = (description: string) => Type.String({ minLength: 1, maxLength: MAX_SHORT, description });
const Places = (what: string) =>
  Type.Array(Text("One template: of a header, the query or a JSON body."), {
    minItems: 1,
    maxItems: MAX_PLACES,
    description: `Where ${what} is; the first that the request has counts.`,
  });

const Tolerance = (description: string) =>
  Type.Integer({ minimum: 1, maximum: MAX_TOLERANCE_S, description: `${description} Seconds.` });

const Signature = Closed({
  at: Type.Array(Text("One template, such as `{{headers.x-signature}}` or `{{query.signature}}`."), {
    minItems: 1,
    maxItems: MAX_PLACES,
    description: "Where signatures are; one of them must match.",
  }),
  items: Type.Optional(OneOf([" ", ",", ";"], "What divides a value with several items.")),
  key: Type.Optional(Short("Which of the items are signatures, such as `v1`.")),
  separator: Type.Optional(
    OneOf(["=", ","], "What divides the key of an item from its value: `=` by default."),
  ),
  prefix: Type.Optional(Short("Text before each signature, such as `sha256=`.")),
  encoding: OneOf(["hex", "base64", "text"]),
});

const Challenge = Closed({
  when: Closed({
    method: Type.Optional(OneOf(["GET", "HEAD", "OPTIONS", "POST"])),
    at: Type.Optional(Text("One template, whose value the request must have.")),
    equals: Type.Optional(Short("What that value must be.")),
  }),
  verified: Type.Boolean({ description: "True if only a verified request is responded to like this." }),
  respond: Closed({
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 299 })),
    text: Type.Optional(Text("A text with templates, sent as `text/plain`.")),
    json: Type.Optional(
      Type.Record(Type.String(), Type.Union([Text("A template or a text."), Type.Integer()]), {
        maxProperties: MAX_FIELDS,
        description: "An object, sent as JSON.",
      }),
    ),
    headers: Type.Optional(
      Closed(
        {
          "webhook-allowed-origin": Type.Optional(Text("A text with templates.")),
          "webhook-allowed-rate": Type.Optional(Text("A text with templates.")),
          "x-hook-secret": Type.Optional(Text("A text with templates.")),
        },
        { description: "By which a sender is allowed to send: those of CloudEvents, and Asana's." },
      ),
    ),
  }),
});

/** A scheme: all that a preset says of its provider. */
export const VerifyRule = Closed(
  {
    scheme: OneOf(
      ["hmac", "signature", "token", "jwt", "jwks", "sns"],
      "`hmac` with a shared secret; `signature` with the sender's public key; `token` for the secret itself, such as a password; `jwt` for a token by HS256; `jwks` for one by the keys that its sender publishes; `sns` for messages of Amazon SNS, whose secrets are the ARNs of topics.",
    ),
    digest: Type.Optional(OneOf(["sha1", "sha256", "sha384", "sha512"], "Of `hmac`: `sha256` by default.")),
    algorithm: Type.Optional(OneOf(["ed25519", "ecdsa-p256"], "Of `signature`.")),
    signature: Signature,
    signs: Type.Optional(
      Type.Array(Text("A text with templates: `{{body}}` is the raw body."), {
        minItems: 1,
        maxItems: MAX_PARTS,
        description:
          "What is signed, part after part. Of several parts, one without `{{body}}` whose value the request lacks is left out.",
      }),
    ),
    key: Type.Optional(
      Closed({
        encoding: OneOf(["utf8", "base64", "hex", "pem", "spki-base64", "raw-hex", "raw-base64"]),
        strip: Type.Optional(Short("Text before the key, such as `whsec_`.")),
      }),
    ),
    timestamp: Type.Optional(
      Closed({
        at: Places("the time of the request"),
        unit: OneOf(["s", "ms", "iso"]),
        tolerance: Type.Optional(Tolerance("How far it may be from now, both ways. Not checked without it.")),
      }),
    ),
    body_hash: Type.Optional(
      Closed(
        { at: Places("the hash"), encoding: OneOf(["hex", "base64"]) },
        { description: "A SHA-256 of the body that is signed instead of it." },
      ),
    ),
    claims: Type.Optional(
      Type.Record(Type.String(), Text("What the claim must be; `{{url}}` is the address of the request."), {
        maxProperties: MAX_FIELDS,
        description: "Of `jwt` and `jwks`: what its claims must be, beside `exp` and `nbf`.",
      }),
    ),
    jwks: Type.Optional(
      Closed(
        {
          url: Text("Where its sender publishes the keys: an address with https."),
          secret_claim: Short("The claim that must be one of the secrets, such as `email` or `aud`."),
        },
        {
          description:
            "Of `jwks`: the JSON Web Key Set by which tokens are signed, with RS256, ES256 or EdDSA.",
        },
      ),
    ),
    id: Type.Optional(Places("the id of what is reported, which a repeat has again,")),
    challenges: Type.Optional(Type.Array(Challenge, { maxItems: MAX_CHALLENGES })),
  },
  { title: "VerifyRule" },
);
export type VerifyRule = Static<typeof VerifyRule>;
export type Challenge = Static<typeof Challenge>;

/** What is said of a verification beside its rule. */
const OPTIONS = {
  tolerance: Type.Optional(Tolerance("In place of the rule's.")),
  reject_with: Type.Optional(
    Type.Union([Type.Literal(400), Type.Literal(401), Type.Literal(403), Type.Literal(404)], {
      description: "The status of a rejection; 401 by default.",
    }),
  ),
  drop_repeats: Type.Optional(
    Type.Boolean({ description: "True: a request with an id that has come before starts no run." }),
  ),
};
const RULE = {
  preset: Type.Optional(Short("Name of a preset, such as `stripe`.")),
  rule: Type.Optional(VerifyRule),
};

const NameOfProp = Type.String({ minLength: 1, maxLength: 200, description: "Name of a secret prop." });
const FromHook = Closed({ from: Type.Literal("hook") }, { description: "What a hook gives to `setSecret`." });

/** What the author of a component says of its HTTP interface (docs/verify.md#in-a-component). */
export const AuthorVerify = Closed({
  ...RULE,
  secret: Type.Optional(Type.Union([NameOfProp, FromHook])),
  ...OPTIONS,
});
export type AuthorVerify = Static<typeof AuthorVerify>;

/** What a request to deploy or update a source says (docs/verify.md). */
export const VerifySettings = Closed(
  {
    ...RULE,
    secrets: Type.Optional(
      Type.Array(
        Type.Union([
          Type.String({ minLength: 1, maxLength: LIMITS.verifySecretChars.value }),
          Closed({ keep: Type.Integer({ minimum: 0, maximum: LIMITS.verifySecrets.value - 1 }) }),
        ]),
        {
          maxItems: LIMITS.verifySecrets.value,
          description:
            "Write-only. Any of them may match, so that one can be replaced: `{keep: 0}` keeps the first of those given before, " +
            "`{keep: 1}` the second. Left out, all of them stay.",
        },
      ),
    ),
    ...OPTIONS,
    mode: Type.Optional(
      OneOf(
        ["enforce", "report"],
        "`report` lets through what would be rejected, and marks it: to try a rule.",
      ),
    ),
  },
  {
    title: "VerifySettings",
    description:
      "How requests for its HTTP interface are verified, before anything of them is stored: `preset` or `rule`.",
  },
);
export type VerifySettings = Static<typeof VerifySettings>;

/** What the API shows of settings. */
export const ShownVerify = Type.Object(
  {
    preset: OrNull(Type.String(), "Null for a rule of its own."),
    rule: OrNull(VerifyRule),
    tolerance: OrNull(Type.Integer(), "How old a request may be, in seconds; null: of any age."),
    reject_with: Type.Integer(),
    drop_repeats: Type.Boolean(),
    mode: Type.Union([Type.Literal("enforce"), Type.Literal("report")]),
    secrets: Type.Integer({
      description: "How many are set. With none, everything is rejected but challenges that need none.",
    }),
  },
  { title: "Verify" },
);
