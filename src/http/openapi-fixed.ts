import type { Json } from "./openapi-components.ts";

/** What the page of the API opens with (docs/rest-api.md, docs/design.md#errors), as Markdown. */
export const INTRODUCTION = `Every request needs the header \`Authorization: Bearer <API key>\`. A trailing slash is optional.
Query parameters may also be given in the JSON body of a POST, PUT or DELETE; if both are given, the query string
wins. Unknown parameters, unknown body fields and unknown names in \`include\` or \`exclude\` are rejected. A method that
a path does not have is rejected with 405 and an \`Allow\` header. Lists at \`/users/me/…\` also have the path at which
one of them is created: \`GET /webhooks\` is \`GET /users/me/webhooks\`.

## From nothing to a delivered event

1. \`POST /sources\` with \`component_code\` creates an event source. The response has the source's \`id\` and, if its
   component has an HTTP interface, the URL of its endpoint under \`configured_props.http.endpoint_url\`.
2. \`POST /webhooks\` with \`url\` creates a webhook. The response shows its \`signing_key\`, once.
3. \`POST /subscriptions?emitter_id={source id}&listener_id={webhook id}\` connects them.
4. A request to the endpoint runs the component. What it emits is listed by \`GET /sources/{id}/event_summaries\`,
   streamed by \`GET /sources/{id}/sse\`, and delivered to the webhook; \`GET /webhooks/{id}/deliveries\` shows the
   attempts, and \`GET /events/{id}\` where an event went and why.

## Signatures

A delivery is a POST of the event as JSON, signed as [Standard Webhooks](https://www.standardwebhooks.com/) describe:
\`webhook-id\` is the same for all attempts, so a receiver that remembers ids handles each event once;
\`webhook-timestamp\` is in seconds; \`webhook-signature\` holds one or more signatures \`v1,{base64}\`, separated by spaces.
Each is an HMAC-SHA256 of \`{webhook-id}.{webhook-timestamp}.{body}\`, keyed with the bytes that the part of the
signing key after \`whsec_\` encodes in base64. Compare with the raw body, in constant time, and reject old timestamps.
A webhook with \`signing: "ed25519"\` has signatures \`v1a,{base64}\` of the same text instead, which its \`public_key\` verifies.
After a rotation the old key signs too for 24 hours. Any 2xx is a success; anything else is tried again on a schedule.

## Errors

An error is an \`application/problem+json\` object: \`{type, title, status, detail, error, errors?}\`. \`errors\` lists each
field at fault as \`{in, path, message}\`. With 4xx the request is at fault, with 5xx the server. What belongs to an account
that the caller has no access to is 404, as if it did not exist. \`Idempotency-Key\` makes a POST safe to repeat.

## Limits

Lists have up to 100 rows a page. 429 means too many requests or too much that waits, with \`Retry-After\`; 403
\`limit-reached\` means that the account has as many of something as its plan allows. \`GET /users/me\` shows the limits
and what is in use; docs/limits.md in the repository lists every bound.`;

/** What a delivery's examples carry. */
const EVENT = { order: 42, total: "19.90" };

/** The body of a webhook whose format is `cloudevents`. */
const CLOUD_EVENT: Json = {
  type: "object",
  title: "CloudEvent",
  description: "A CloudEvent 1.0 in the structured mode, if the webhook's format is `cloudevents`.",
  required: ["specversion", "id", "source", "type", "time", "datacontenttype", "data"],
  properties: {
    specversion: { type: "string", const: "1.0" },
    id: { type: "string", description: "The event's id, unique for its source." },
    source: { type: "string", format: "uri", description: "`urn:headwater:` and the id of its emitter." },
    type: { type: "string", description: "Its channel; `headwater.event` for the default channel." },
    time: { type: "string", format: "date-time" },
    datacontenttype: { type: "string", const: "application/json" },
    data: { description: "What was emitted." },
  },
};

const header = (name: string, description: string, required: boolean, example: string) => ({
  name,
  in: "header",
  description,
  required,
  schema: { type: "string" },
  example,
});

/** The attributes of a CloudEvent in the binary mode. */
const CE_HEADERS = Object.entries({
  "ce-specversion": "1.0",
  "ce-id": "1700000000000-0",
  "ce-source": "urn:headwater:dc_0CjB9WfQ2mKt8yZs",
  "ce-type": "order.created",
  "ce-time": "2023-11-14T22:13:20.000Z",
}).map(([name, example]) =>
  header(name, "Of a webhook whose format is `cloudevents-binary`.", false, example),
);

const response = (description: string) => ({ description });

/** The requests that the server itself sends (docs/design.md#delivery-to-a-webhook). */
export const WEBHOOKS: Json = {
  event: {
    post: {
      operationId: "receiveEvent",
      tags: ["Webhooks"],
      summary: "Receive an event at your own address",
      description:
        "What a webhook's `url` gets for each event of its subscriptions, signed as Standard Webhooks describe. Verify " +
        "`webhook-signature` with the raw body, and remember `webhook-id`: a delivery that is repeated has the same one.",
      security: [],
      parameters: [
        header(
          "webhook-id",
          "The delivery's id, the same over all attempts.",
          true,
          "dlv_0CjBBt8Xw3QvW4bLkT2sZ9",
        ),
        header("webhook-timestamp", "When it was sent; Unix seconds.", true, "1700000000"),
        header(
          "webhook-signature",
          "One or more of `v1,{base64}`, separated by spaces: the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`; `v1a,{base64}` is " +
            "its signature by ed25519.",
          true,
          "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
        ),
        header(
          "x-pd-signature",
          "`t={seconds},v1={hex}`: the HMAC-SHA256 of `{t}.{body}`, keyed with the text of the signing key; absent with ed25519.",
          false,
          "t=1700000000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
        ),
        header("x-headwater-event-id", "The event's id.", true, "1700000000000-0"),
        header(
          "x-headwater-emitter-id",
          "The source or workflow that emitted it.",
          true,
          "dc_0CjB9WfQ2mKt8yZs",
        ),
        header("x-headwater-event-name", "Its channel; empty for the default channel.", true, ""),
        header("x-headwater-attempt", "The number of this attempt, from 1.", true, "1"),
        header(
          "x-headwater-hops",
          "How many sources, workflows and deliveries the event has passed, this one included.",
          true,
          "1",
        ),
        ...CE_HEADERS,
        header(
          "traceparent",
          "If the event has a trace.",
          false,
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ),
      ],
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              description:
                "What was emitted, any JSON value; the whole event object for the channels `$errors` and `$logs`.",
            },
            example: EVENT,
          },
          "application/cloudevents+json": {
            schema: CLOUD_EVENT,
            example: {
              specversion: "1.0",
              id: "1700000000000-0",
              source: "urn:headwater:dc_0CjB9WfQ2mKt8yZs",
              type: "order.created",
              time: "2023-11-14T22:13:20.000Z",
              datacontenttype: "application/json",
              data: EVENT,
            },
          },
        },
      },
      responses: {
        "2XX": response("The event has arrived."),
        "410": response("The delivery fails for good, and the webhook is disabled."),
        default: response(
          "Anything else, and no response within the time-out, is tried again on the retry schedule; `Retry-After` is respected.",
        ),
      },
    },
  },
};
