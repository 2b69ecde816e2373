import {
  bodyHmac,
  echoesQuery,
  header,
  listed,
  standardWebhooks,
  timedHmac,
  tokenIn,
} from "./preset-families.ts";
import type { VerifyRule } from "./schema.ts";

export interface Preset {
  title: string;
  /** Increases with each change of the rule. */
  version: number;
  /**
   * `run`: the provider's own code signed or verified what this rule does; `read`: from what the provider has published. What is
   * only remembered is not here.
   */
  known: "run" | "read";
  /** What the secret is, for who looks for it at the provider. */
  secret: string;
  /** What a person should know who relies on it. */
  note?: string;
  rule: VerifyRule;
}

const SIGNING_SECRET = "the signing secret";
const WHSEC = "the signing secret, whsec_…";

const run = (title: string, secret: string, rule: VerifyRule, note?: string): Preset => ({
  title,
  version: 1,
  known: "run",
  secret,
  ...(note !== undefined && { note }),
  rule,
});
const read = (...of: Parameters<typeof run>): Preset => ({ ...run(...of), known: "read" });

const DISCORD: VerifyRule = {
  scheme: "signature",
  algorithm: "ed25519",
  signature: { at: [header("x-signature-ed25519")], encoding: "hex" },
  signs: ["{{timestamp}}{{body}}"],
  key: { encoding: "raw-hex" },
  timestamp: { at: [header("x-signature-timestamp")], unit: "s" },
};

/**
 * How providers sign, as data: a change of one is a change of its version. Names never change, because sources are stored with
 * them. Left out are schemes that need more than a setting: certificates by URL (PayPal), and keys that only who has an account may
 * ask for (Plaid).
 */
export const PRESETS: Readonly<Record<string, Preset>> = {
  "standard-webhooks": run("Standard Webhooks", WHSEC, standardWebhooks("webhook", "svix")),
  svix: run("Svix", WHSEC, standardWebhooks("svix", "webhook")),
  openai: run("OpenAI", WHSEC, standardWebhooks("webhook")),
  clerk: run("Clerk", WHSEC, standardWebhooks("svix", "webhook")),
  resend: run("Resend", WHSEC, standardWebhooks("svix", "webhook")),
  brex: run("Brex", WHSEC, standardWebhooks("svix", "webhook")),

  github: run(
    "GitHub",
    "the webhook's secret",
    bodyHmac("x-hub-signature-256", { prefix: "sha256=", id: [header("x-github-delivery")] }),
  ),
  gitlab: read(
    "GitLab, by token",
    "the secret token",
    tokenIn("x-gitlab-token", { id: [header("webhook-id"), header("idempotency-key")] }),
    "The body is not signed. Prefer gitlab-signed where GitLab offers a signing token.",
  ),
  "gitlab-signed": read("GitLab, signed", "the signing token", standardWebhooks("webhook")),
  bitbucket: read("Bitbucket", "the webhook's secret", bodyHmac("x-hub-signature", { prefix: "sha256=" })),
  jira: read("Jira", "the webhook's secret", bodyHmac("x-hub-signature", { prefix: "sha256=" })),
  snyk: read("Snyk", "the webhook's secret", bodyHmac("x-hub-signature", { prefix: "sha256=" })),
  meta: read(
    "Meta and WhatsApp",
    "the app secret",
    bodyHmac("x-hub-signature-256", { prefix: "sha256=", challenges: [echoesQuery("hub.challenge")] }),
    "hub.challenge is sent back to everybody, whatever hub.verify_token says: the signature protects, not the token.",
  ),
  intercom: read(
    "Intercom",
    "the app's client secret",
    bodyHmac("x-hub-signature", { prefix: "sha1=", digest: "sha1", id: ["{{body.id}}"] }),
  ),

  stripe: run(
    "Stripe",
    "the endpoint's signing secret, whsec_…",
    listed("stripe-signature", {
      ...{ time: "t", key: "v1", signs: ["{{timestamp}}.{{body}}"], tolerance: 300, id: ["{{body.id}}"] },
    }),
  ),
  asana: read(
    "Asana",
    "the X-Hook-Secret of the response by which Asana made the webhook",
    bodyHmac("x-hook-signature", {
      challenges: [
        {
          when: { method: "POST", at: header("x-hook-secret") },
          verified: false,
          respond: { headers: { "x-hook-secret": header("x-hook-secret") } },
        },
      ],
    }),
    "Asana sends it to the address, too, which sends it back; only who made the webhook can say which is right.",
  ),
  calendly: read(
    "Calendly",
    "the subscription's signing key",
    listed("calendly-webhook-signature", {
      ...{ time: "t", key: "v1", signs: ["{{timestamp}}.{{body}}"], tolerance: 300 },
    }),
  ),
  paddle: run(
    "Paddle",
    "the notification destination's secret key",
    listed("paddle-signature", {
      ...{ time: "ts", key: "h1", items: ";", signs: ["{{timestamp}}:{{body}}"], tolerance: 5 },
      id: ["{{body.event_id}}"],
    }),
    "Paddle's own tolerance is 5 seconds; a source may raise it.",
  ),
  buildkite: read(
    "Buildkite",
    "the webhook's token, with signatures switched on",
    listed("x-buildkite-signature", {
      ...{ time: "timestamp", key: "signature", signs: ["{{timestamp}}.{{body}}"], tolerance: 300 },
    }),
  ),
  "mercado-pago": run(
    "Mercado Pago",
    "the application's secret signature",
    listed("x-signature", {
      ...{ time: "ts", key: "v1", id: ["{{body.id}}"] },
      signs: ['id:{{query["data.id"]}};', "request-id:{{headers.x-request-id}};", "ts:{{timestamp}};"],
    }),
    "The body is not signed: fetch the payment by its id. A proxy in front must let x-request-id pass.",
  ),

  slack: run(
    "Slack",
    "the app's signing secret",
    timedHmac("x-slack-signature", {
      ...{ time: "x-slack-request-timestamp", prefix: "v0=", signs: ["v0:{{timestamp}}:{{body}}"] },
      id: ["{{body.event_id}}"],
      challenges: [
        {
          when: { method: "POST", at: "{{body.type}}", equals: "url_verification" },
          verified: true,
          respond: { text: "{{body.challenge}}" },
        },
      ],
    }),
  ),
  zoom: read(
    "Zoom",
    "the app's secret token",
    timedHmac("x-zm-signature", {
      ...{ time: "x-zm-request-timestamp", prefix: "v0=", signs: ["v0:{{timestamp}}:{{body}}"] },
      challenges: [
        {
          when: { method: "POST", at: "{{body.event}}", equals: "endpoint.url_validation" },
          verified: true,
          respond: {
            json: {
              plainToken: "{{body.payload.plainToken}}",
              encryptedToken: "{{hmac.body.payload.plainToken}}",
            },
          },
        },
      ],
    }),
  ),
  "customer-io": read(
    "Customer.io",
    "the webhook's signing key",
    timedHmac("x-cio-signature", { time: "x-cio-timestamp", signs: ["v0:{{timestamp}}:{{body}}"] }),
  ),
  zendesk: read(
    "Zendesk",
    "the webhook's signing secret",
    timedHmac("x-zendesk-webhook-signature", {
      ...{ time: "x-zendesk-webhook-signature-timestamp", unit: "iso", encoding: "base64", tolerance: null },
      signs: ["{{timestamp}}{{body}}"],
    }),
  ),
  box: read(
    "Box",
    "the primary or the secondary signature key",
    timedHmac(["box-signature-primary", "box-signature-secondary"], {
      ...{ time: "box-delivery-timestamp", unit: "iso", encoding: "base64", tolerance: 600 },
      signs: ["{{body}}{{timestamp}}"],
    }),
  ),
  webflow: read(
    "Webflow",
    "the webhook's secret key, or the app's client secret",
    timedHmac("x-webflow-signature", {
      ...{ time: "x-webflow-timestamp", unit: "ms", signs: ["{{timestamp}}:{{body}}"] },
    }),
  ),
  hubspot: run(
    "HubSpot (version 3)",
    "the app's client secret",
    timedHmac("x-hubspot-signature-v3", {
      ...{ time: "x-hubspot-request-timestamp", unit: "ms", encoding: "base64" },
      signs: ["{{method}}{{url}}{{body}}{{timestamp}}"],
    }),
    "For an address without percent-encoded characters in its query.",
  ),
  linear: run("Linear", "the webhook's signing secret", {
    ...bodyHmac("linear-signature", { id: [header("linear-delivery")] }),
    timestamp: { at: ["{{body.webhookTimestamp}}"], unit: "ms", tolerance: 60 },
  }),

  shopify: read(
    "Shopify",
    "the app's client secret",
    bodyHmac("x-shopify-hmac-sha256", { encoding: "base64" }),
  ),
  woocommerce: read(
    "WooCommerce",
    "the webhook's secret",
    bodyHmac("x-wc-webhook-signature", { encoding: "base64" }),
  ),
  docusign: read(
    "DocuSign",
    "an HMAC key of the account",
    bodyHmac(["x-docusign-signature-1", "x-docusign-signature-2", "x-docusign-signature-3"], {
      encoding: "base64",
    }),
  ),
  xero: read("Xero", "the webhook's signing key", bodyHmac("x-xero-signature", { encoding: "base64" })),
  quickbooks: read("QuickBooks", "the verifier token", bodyHmac("intuit-signature", { encoding: "base64" })),
  line: run("LINE", "the channel secret", bodyHmac("x-line-signature", { encoding: "base64" })),
  typeform: read(
    "Typeform",
    "the webhook's secret",
    bodyHmac("typeform-signature", { prefix: "sha256=", encoding: "base64", id: ["{{body.event_id}}"] }),
  ),

  sentry: read("Sentry", "the integration's client secret", bodyHmac("sentry-hook-signature")),
  "lemon-squeezy": read("Lemon Squeezy", SIGNING_SECRET, bodyHmac("x-signature")),
  razorpay: run(
    "Razorpay",
    "the webhook's secret",
    bodyHmac("x-razorpay-signature", { id: [header("x-razorpay-event-id")] }),
  ),
  "cal-com": read("Cal.com", "the webhook's secret", bodyHmac("x-cal-signature-256")),
  attio: read("Attio", "the webhook's secret", bodyHmac("attio-signature")),
  dropbox: read(
    "Dropbox",
    "the app secret",
    bodyHmac("x-dropbox-signature", { challenges: [echoesQuery("challenge")] }),
  ),
  notion: read(
    "Notion",
    "the verification token",
    bodyHmac("x-notion-signature", { prefix: "sha256=", id: ["{{body.id}}"] }),
    "Notion sends the token in its first request: deploy with mode report, and read it from that run.",
  ),
  pagerduty: read("PagerDuty", "the subscription's secret", {
    ...bodyHmac("x-pagerduty-signature", { id: ["{{body.event.id}}"] }),
    signature: { at: [header("x-pagerduty-signature")], items: ",", key: "v1", encoding: "hex" },
  }),
  circleci: read("CircleCI", "the webhook's secret", {
    ...bodyHmac("circleci-signature", { id: ["{{body.id}}"] }),
    signature: { at: [header("circleci-signature")], items: ",", key: "v1", encoding: "hex" },
  }),
  vercel: read(
    "Vercel",
    "the webhook's secret",
    bodyHmac("x-vercel-signature", { digest: "sha1", id: ["{{body.id}}"] }),
  ),
  segment: read(
    "Segment",
    "the shared secret",
    bodyHmac("x-signature", { digest: "sha1", id: ["{{body.messageId}}"] }),
  ),

  square: run("Square", "the subscription's signature key", {
    ...bodyHmac("x-square-hmacsha256-signature", { encoding: "base64", id: ["{{body.event_id}}"] }),
    signs: ["{{url}}{{body}}"],
  }),
  trello: read("Trello", "the application's secret", {
    ...bodyHmac("x-trello-webhook", {
      ...{ digest: "sha1", encoding: "base64", id: ["{{body.action.id}}"] },
      challenges: [{ when: { method: "HEAD" }, verified: false, respond: {} }],
    }),
    signs: ["{{body}}{{url}}"],
  }),
  twilio: run("Twilio", "the account's auth token", {
    ...bodyHmac("x-twilio-signature", { digest: "sha1", encoding: "base64" }),
    signs: ["{{url}}{{form}}"],
    body_hash: { at: ["{{query.bodySHA256}}"], encoding: "hex" },
  }),
  mailgun: read(
    "Mailgun",
    "the HTTP webhook signing key",
    {
      scheme: "hmac",
      signature: { at: ["{{body.signature.signature}}"], encoding: "hex" },
      signs: ["{{timestamp}}{{body.signature.token}}"],
      timestamp: { at: ["{{body.signature.timestamp}}"], unit: "s", tolerance: 300 },
      id: ["{{body.signature.token}}"],
    },
    "Only time and token are signed, not the event: switch drop_repeats on, so that a token works once.",
  ),

  sendgrid: run("SendGrid event webhook", "the verification key (a public key)", {
    scheme: "signature",
    algorithm: "ecdsa-p256",
    signature: { at: [header("x-twilio-email-event-webhook-signature")], encoding: "base64" },
    signs: ["{{timestamp}}{{body}}"],
    key: { encoding: "spki-base64" },
    timestamp: { at: [header("x-twilio-email-event-webhook-timestamp")], unit: "s" },
  }),
  discord: run("Discord interactions", "the application's public key", {
    ...DISCORD,
    id: ["{{body.id}}"],
    challenges: [
      { when: { at: "{{body.type}}", equals: "1" }, verified: true, respond: { json: { type: 1 } } },
    ],
  }),
  "discord-events": run("Discord webhook events", "the application's public key", {
    ...DISCORD,
    challenges: [{ when: { at: "{{body.type}}", equals: "0" }, verified: true, respond: { status: 204 } }],
  }),
  telnyx: read("Telnyx", "the account's public key", {
    scheme: "signature",
    algorithm: "ed25519",
    signature: { at: [header("telnyx-signature-ed25519")], encoding: "base64" },
    signs: ["{{timestamp}}|{{body}}"],
    key: { encoding: "raw-base64" },
    timestamp: { at: [header("telnyx-timestamp")], unit: "s", tolerance: 300 },
  }),

  netlify: read("Netlify", "the notification's JWS secret", {
    scheme: "jwt",
    signature: { at: [header("x-webhook-signature")], encoding: "text" },
    claims: { iss: "netlify" },
    body_hash: { at: ["{{claims.sha256}}"], encoding: "hex" },
  }),

  "google-pubsub": run(
    "Google Pub/Sub push",
    "the e-mail address of the push subscription's service account",
    {
      scheme: "jwks",
      signature: { at: [header("authorization")], prefix: "Bearer ", encoding: "text" },
      jwks: { url: "https://www.googleapis.com/oauth2/v3/certs", secret_claim: "email" },
      claims: { iss: "https://accounts.google.com", email_verified: "true", aud: "{{url}}" },
      id: ["{{body.message.messageId}}"],
    },
    "The audience of the subscription must be the address, as it is unless another is given. The body is not signed.",
  ),
  "amazon-sns": run(
    "Amazon SNS",
    "the topic's ARN",
    {
      scheme: "sns",
      signature: { at: ["{{body.Signature}}"], encoding: "base64" },
      // SNS tries for at most an hour.
      timestamp: { at: ["{{body.Timestamp}}"], unit: "iso", tolerance: 3900 },
      id: ["{{body.MessageId}}"],
    },
    "The subscription is confirmed by itself. Raw message delivery is not signed: leave it off.",
  ),

  telegram: read(
    "Telegram bot",
    "the secret_token of setWebhook",
    tokenIn("x-telegram-bot-api-secret-token", { id: ["{{body.update_id}}"] }),
  ),
  cloudflare: read("Cloudflare notifications", "the webhook's secret", tokenIn("cf-webhook-auth")),
  okta: read(
    "Okta event hooks",
    "the value of the authentication field, sent as Authorization",
    tokenIn("authorization", {
      challenges: [
        {
          when: { method: "GET", at: header("x-okta-verification-challenge") },
          verified: false,
          respond: { json: { verification: header("x-okta-verification-challenge") } },
        },
      ],
    }),
  ),
  grafana: read(
    "Grafana and Alertmanager",
    "the bearer token",
    tokenIn("authorization", { prefix: "Bearer " }),
  ),
  postmark: read(
    "Postmark",
    "user:password, as in the address of the webhook",
    tokenIn("authorization", { prefix: "Basic ", encoding: "base64", id: ["{{body.MessageID}}"] }),
  ),
  cloudevents: read(
    "CloudEvents, such as Azure Event Grid",
    "the bearer token",
    tokenIn("authorization", {
      prefix: "Bearer ",
      id: [header("ce-id"), "{{body.id}}"],
      challenges: [
        {
          when: { method: "OPTIONS", at: header("webhook-request-origin") },
          verified: false,
          respond: {
            headers: {
              "webhook-allowed-origin": header("webhook-request-origin"),
              "webhook-allowed-rate": "*",
            },
          },
        },
      ],
    }),
    "Who asks by OPTIONS whether it may send is allowed to: the token protects.",
  ),
  bearer: read("Bearer token", "the token", tokenIn("authorization", { prefix: "Bearer " })),
  basic: read(
    "User and password",
    "user:password",
    tokenIn("authorization", { prefix: "Basic ", encoding: "base64" }),
  ),
};
