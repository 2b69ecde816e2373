import type { Json } from "./openapi-components.ts";

const header = (name: string, description: string, required: boolean, example: string) => ({
  name,
  in: "header",
  description,
  required,
  schema: { type: "string" },
  example,
});

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
          "One or more of `v1,{base64}`, separated by spaces: the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`.",
          true,
          "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
        ),
        header(
          "x-pd-signature",
          "`t={seconds},v1={hex}`: the HMAC-SHA256 of `{t}.{body}`, keyed with the text of the signing key.",
          true,
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
            example: { order: 42, total: "19.90" },
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
