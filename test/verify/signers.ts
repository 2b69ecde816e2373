import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { SNS_TEST } from "./sns-certificate.ts";

/** What a sender sends. */
export interface Sent {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** One provider as its documents describe it, written without a look at src/verify. */
export interface Signer {
  /** What a source is given. */
  secret: string;
  /** Another key of the same form. */
  otherSecret: string;
  /** Returns a request of the provider at this time. Its body is as given, unless the provider's own form needs another. */
  send: (body: string, nowMs: number, secret?: string) => Sent;
  /** What a change of is noticed, beside the signature. */
  covers: ("body" | "timestamp" | "url" | "query")[];
  /** What the provider publishes, by which all of its requests are signed, whatever the secret. */
  published?: KeyObject;
  /** The oldest request that is accepted, in seconds; absent if age does not matter. */
  toleranceS?: number;
}

export const URL_OF_SOURCE = "https://hooks.example.com/in/abcDEF0123456789abcDEF0123456789";

const post = (headers: Record<string, string>, body: string | Buffer, url = URL_OF_SOURCE): Sent => ({
  method: "POST",
  url,
  headers: { "content-type": "application/json", ...headers },
  body: Buffer.from(body),
});
const mac = (secret: string | Buffer, text: string, digest = "sha256") =>
  createHmac(digest, secret).update(text);
const seconds = (ms: number) => Math.floor(ms / 1000);

/** HMAC of the body in one header. */
const plain = (
  name: string,
  { prefix = "", encoding = "hex" as "hex" | "base64", digest = "sha256" } = {},
): Signer => ({
  secret: "s3cr3t-ü",
  otherSecret: "s3cr3t-u",
  covers: ["body"],
  send: (body, _now, secret = "s3cr3t-ü") =>
    post({ [name]: prefix + mac(secret, body, digest).digest(encoding) }, body),
});

type TimedSend = (given: { body: string; now: number; secret: string }) => Sent;
const timed = (toleranceS: number | undefined, send: TimedSend): Signer => ({
  secret: "s3cr3t",
  otherSecret: "s3cr3t ",
  covers: ["body", "timestamp"],
  ...(toleranceS !== undefined && { toleranceS }),
  send: (body, now, secret = "s3cr3t") => send({ body, now, secret }),
});

const WHSEC = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const standard = (prefix: string): Signer => ({
  ...timed(300, () => expectNever()),
  secret: WHSEC,
  otherSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx",
  send(body, now, secret = WHSEC) {
    const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    const signature = mac(key, `${id}.${seconds(now)}.${body}`).digest("base64");
    const headers = { id, timestamp: `${seconds(now)}`, signature: `v1,${signature}` };
    return post(
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${prefix}-${name}`, value])),
      body,
    );
  },
});

function expectNever(): never {
  throw new Error("is replaced");
}

const token = (name: string, secret: string, write: (secret: string) => string = text => text): Signer => ({
  secret,
  otherSecret: `${secret}x`,
  covers: [],
  send: (body, _now, given = secret) => post({ [name]: write(given) }, body),
});
const basic = (secret: string) => `Basic ${Buffer.from(secret).toString("base64")}`;

const [ed25519, otherEd25519] = [generateKeyPairSync("ed25519"), generateKeyPairSync("ed25519")];
const [p256, otherP256] = [
  generateKeyPairSync("ec", { namedCurve: "P-256" }),
  generateKeyPairSync("ec", { namedCurve: "P-256" }),
];
const spki = (key: KeyObject) => key.export({ type: "spki", format: "der" });
const raw = (key: KeyObject) => spki(key).subarray(-32);

/** Of a provider that signs with a private key: `secret` is the public part, by which the private one is found here. */
const byKeyPair = (
  pairs: [{ publicKey: KeyObject; privateKey: KeyObject }, { publicKey: KeyObject; privateKey: KeyObject }],
  shown: (key: KeyObject) => string,
  send: (body: string, now: number, privateKey: KeyObject) => Sent,
  toleranceS?: number,
): Signer => ({
  secret: shown(pairs[0].publicKey),
  otherSecret: shown(pairs[1].publicKey),
  covers: ["body", "timestamp"],
  ...(toleranceS !== undefined && { toleranceS }),
  send: (body, now, secret) => {
    const [first, second] = pairs;
    return send(body, now, (secret === shown(second.publicKey) ? second : first).privateKey);
  },
});

const discord = byKeyPair(
  [ed25519, otherEd25519],
  key => raw(key).toString("hex"),
  (body, now, key) => {
    const at = String(seconds(now));
    const signature = sign(null, Buffer.from(at + body), key).toString("hex");
    return post({ "x-signature-ed25519": signature, "x-signature-timestamp": at }, body);
  },
);

const jws = (claims: object, secret: string) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${text}.${mac(secret, text).digest("base64url")}`;
};

const rsa = createPrivateKey(SNS_TEST.key);
const published = createPublicKey(rsa);
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token by RS256, as Google signs them. */
export function googleToken(claims: object, kid = "k1", key: KeyObject = rsa): string {
  const text = `${part({ alg: "RS256", kid, typ: "JWT" })}.${part(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
}

export const SNS_CERTIFICATE_URL =
  "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-f3ecfb7224c7233fe7bb5f59f96de52f.pem";
type SnsFields = Record<string, string | undefined>;

/** Signs a message as docs.aws.amazon.com/sns says, "Verifying the signatures of Amazon SNS messages". */
export function snsMessage(fields: SnsFields, key: KeyObject = rsa): Sent {
  const signed = Object.keys(fields).filter(
    name => fields[name] !== undefined && name !== "SignatureVersion",
  );
  const text = signed.sort().map(name => `${name}\n${fields[name]}\n`);
  const hash = fields.SignatureVersion === "2" ? "sha256" : "sha1";
  const Signature = sign(hash, Buffer.from(text.join("")), key).toString("base64");
  const message = { ...fields, Signature, SigningCertURL: SNS_CERTIFICATE_URL };
  const headers = {
    "content-type": "text/plain; charset=UTF-8",
    "x-amz-sns-message-type": fields.Type ?? "",
    "x-amz-sns-topic-arn": fields.TopicArn ?? "",
  };
  return post(headers, JSON.stringify(message));
}
export const SNS_TOPIC = "arn:aws:sns:us-west-2:123456789012:MyTopic";

/** A signer for each preset. */
export const SIGNERS: Record<string, Signer> = {
  "standard-webhooks": standard("webhook"),
  svix: standard("svix"),
  openai: standard("webhook"),
  clerk: standard("svix"),
  resend: standard("svix"),
  brex: standard("svix"),
  "gitlab-signed": standard("webhook"),
  github: plain("x-hub-signature-256", { prefix: "sha256=" }),
  meta: plain("x-hub-signature-256", { prefix: "sha256=" }),
  bitbucket: plain("x-hub-signature", { prefix: "sha256=" }),
  jira: plain("x-hub-signature", { prefix: "sha256=" }),
  snyk: plain("x-hub-signature", { prefix: "sha256=" }),
  intercom: plain("x-hub-signature", { prefix: "sha1=", digest: "sha1" }),
  shopify: plain("x-shopify-hmac-sha256", { encoding: "base64" }),
  woocommerce: plain("x-wc-webhook-signature", { encoding: "base64" }),
  docusign: plain("x-docusign-signature-2", { encoding: "base64" }),
  xero: plain("x-xero-signature", { encoding: "base64" }),
  quickbooks: plain("intuit-signature", { encoding: "base64" }),
  line: plain("x-line-signature", { encoding: "base64" }),
  typeform: plain("typeform-signature", { prefix: "sha256=", encoding: "base64" }),
  asana: plain("x-hook-signature"),
  sentry: plain("sentry-hook-signature"),
  "lemon-squeezy": plain("x-signature"),
  razorpay: plain("x-razorpay-signature"),
  "cal-com": plain("x-cal-signature-256"),
  attio: plain("attio-signature"),
  dropbox: plain("x-dropbox-signature"),
  notion: plain("x-notion-signature", { prefix: "sha256=" }),
  pagerduty: plain("x-pagerduty-signature", { prefix: "v1=" }),
  circleci: plain("circleci-signature", { prefix: "v1=" }),
  vercel: plain("x-vercel-signature", { digest: "sha1" }),
  segment: plain("x-signature", { digest: "sha1" }),
  stripe: timed(300, ({ body, now, secret }) => {
    const signature = mac(secret, `${seconds(now)}.${body}`).digest("hex");
    return post({ "stripe-signature": `t=${seconds(now)},v0=6ffbb59b2300aae6,v1=${signature}` }, body);
  }),
  calendly: timed(300, ({ body, now, secret }) => {
    const signature = mac(secret, `${seconds(now)}.${body}`).digest("hex");
    return post({ "calendly-webhook-signature": `t=${seconds(now)},v1=${signature}` }, body);
  }),
  paddle: timed(5, ({ body, now, secret }) => {
    const signature = mac(secret, `${seconds(now)}:${body}`).digest("hex");
    return post({ "paddle-signature": `ts=${seconds(now)};h1=${signature}` }, body);
  }),
  buildkite: timed(300, ({ body, now, secret }) => {
    const signature = mac(secret, `${seconds(now)}.${body}`).digest("hex");
    return post({ "x-buildkite-signature": `timestamp=${seconds(now)},signature=${signature}` }, body);
  }),
  "mercado-pago": {
    ...timed(undefined, ({ body, now, secret }) => {
      const signature = mac(secret, `id:123456;request-id:bb56a2f1;ts:${seconds(now)};`).digest("hex");
      const headers = { "x-request-id": "bb56a2f1", "x-signature": `ts=${seconds(now)},v1=${signature}` };
      return post(headers, body, `${URL_OF_SOURCE}?data.id=123456&type=payment`);
    }),
    covers: ["timestamp", "query"],
  },
  slack: timed(300, ({ body, now, secret }) => {
    const signature = mac(secret, `v0:${seconds(now)}:${body}`).digest("hex");
    return post(
      { "x-slack-signature": `v0=${signature}`, "x-slack-request-timestamp": `${seconds(now)}` },
      body,
    );
  }),
  zoom: timed(300, ({ body, now, secret }) => {
    const signature = mac(secret, `v0:${seconds(now)}:${body}`).digest("hex");
    return post({ "x-zm-signature": `v0=${signature}`, "x-zm-request-timestamp": `${seconds(now)}` }, body);
  }),
  "customer-io": timed(300, ({ body, now, secret }) => {
    const signature = mac(secret, `v0:${seconds(now)}:${body}`).digest("hex");
    return post({ "x-cio-signature": signature, "x-cio-timestamp": `${seconds(now)}` }, body);
  }),
  zendesk: timed(undefined, ({ body, now, secret }) => {
    const at = new Date(now).toISOString();
    return post(
      {
        "x-zendesk-webhook-signature": mac(secret, at + body).digest("base64"),
        "x-zendesk-webhook-signature-timestamp": at,
      },
      body,
    );
  }),
  box: timed(600, ({ body, now, secret }) => {
    const at = new Date(now).toISOString().replace(/\.\d+Z$/, "-00:00");
    return post(
      {
        "box-signature-primary": mac("an older key", body + at).digest("base64"),
        "box-signature-secondary": mac(secret, body + at).digest("base64"),
        "box-delivery-timestamp": at,
      },
      body,
    );
  }),
  webflow: timed(300, ({ body, now, secret }) =>
    post(
      { "x-webflow-signature": mac(secret, `${now}:${body}`).digest("hex"), "x-webflow-timestamp": `${now}` },
      body,
    ),
  ),
  hubspot: {
    ...timed(300, ({ body, now, secret }) => {
      const signature = mac(secret, `POST${URL_OF_SOURCE}${body}${now}`).digest("base64");
      return post({ "x-hubspot-signature-v3": signature, "x-hubspot-request-timestamp": `${now}` }, body);
    }),
    covers: ["body", "timestamp", "url"],
  },
  linear: timed(60, ({ now, secret }) => {
    const body = JSON.stringify({ action: "create", webhookTimestamp: now });
    return post({ "linear-signature": mac(secret, body).digest("hex"), "linear-delivery": "234d1a4e" }, body);
  }),
  square: {
    ...plain("x-square-hmacsha256-signature"),
    covers: ["body", "url"],
    send: (body, _now, secret = "s3cr3t-ü") =>
      post({ "x-square-hmacsha256-signature": mac(secret, URL_OF_SOURCE + body).digest("base64") }, body),
  },
  trello: {
    ...plain("x-trello-webhook"),
    covers: ["body", "url"],
    send: (body, _now, secret = "s3cr3t-ü") =>
      post({ "x-trello-webhook": mac(secret, body + URL_OF_SOURCE, "sha1").digest("base64") }, body),
  },
  twilio: {
    ...plain("x-twilio-signature"),
    covers: ["body", "url"],
    send(body, _now, secret = "s3cr3t-ü") {
      const url = `${URL_OF_SOURCE}?foo=1&bodySHA256=${createHash("sha256").update(body).digest("hex")}`;
      return post({ "x-twilio-signature": mac(secret, url, "sha1").digest("base64") }, body, url);
    },
  },
  mailgun: {
    ...timed(300, ({ now, secret }) => {
      const [timestamp, tokenOfIt] = [String(seconds(now)), "ae4a9a8f1e5d2b3c"];
      const signature = mac(secret, timestamp + tokenOfIt).digest("hex");
      return post(
        {},
        JSON.stringify({ signature: { timestamp, token: tokenOfIt, signature }, "event-data": {} }),
      );
    }),
    covers: [],
  },
  sendgrid: byKeyPair(
    [p256, otherP256],
    key => spki(key).toString("base64"),
    (body, now, key) => {
      const signature = sign("sha256", Buffer.from(seconds(now) + body), key).toString("base64");
      return post(
        {
          "x-twilio-email-event-webhook-signature": signature,
          "x-twilio-email-event-webhook-timestamp": String(seconds(now)),
        },
        body,
      );
    },
  ),
  discord,
  "discord-events": discord,
  telnyx: byKeyPair(
    [ed25519, otherEd25519],
    key => raw(key).toString("base64"),
    (body, now, key) => {
      const at = String(seconds(now));
      const signature = sign(null, Buffer.from(`${at}|${body}`), key).toString("base64");
      return post({ "telnyx-signature-ed25519": signature, "telnyx-timestamp": at }, body);
    },
    300,
  ),
  netlify: {
    ...plain("x-webhook-signature"),
    send: (body, _now, secret = "s3cr3t-ü") => {
      const sha256 = createHash("sha256").update(body).digest("hex");
      return post({ "x-webhook-signature": jws({ iss: "netlify", sha256 }, secret) }, body);
    },
  },
  "google-pubsub": {
    secret: "push@project.iam.gserviceaccount.com",
    otherSecret: "another@project.iam.gserviceaccount.com",
    published,
    covers: [],
    send(body, now, email = "push@project.iam.gserviceaccount.com") {
      const times = { iat: seconds(now), exp: seconds(now) + 3600 };
      const claims = { aud: URL_OF_SOURCE, iss: "https://accounts.google.com", email, email_verified: true };
      return post({ authorization: `Bearer ${googleToken({ ...claims, ...times })}` }, body);
    },
  },
  "amazon-sns": {
    secret: SNS_TOPIC,
    otherSecret: `${SNS_TOPIC}2`,
    published,
    covers: ["body"],
    toleranceS: 3900,
    send: (body, now, topic = SNS_TOPIC) =>
      snsMessage({
        ...{ Type: "Notification", MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324", TopicArn: topic },
        ...{ Subject: "My First Message", Message: body, Timestamp: new Date(now).toISOString() },
        SignatureVersion: "1",
      }),
  },
  gitlab: token("x-gitlab-token", "glt-token"),
  telegram: token("x-telegram-bot-api-secret-token", "A1b2_c3"),
  cloudflare: token("cf-webhook-auth", "a word"),
  okta: token("authorization", "a word"),
  grafana: token("authorization", "a-token", secret => `Bearer ${secret}`),
  cloudevents: token("authorization", "a-token", secret => `Bearer ${secret}`),
  bearer: token("authorization", "a-token", secret => `Bearer ${secret}`),
  postmark: token("authorization", "user:pass:word", basic),
  basic: token("authorization", "user:pass:word", basic),
};
