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
After a rotation the old key signs too for 24 hours. Any 2xx is a success; anything else is tried again on a schedule.

## Errors

An error is an \`application/problem+json\` object: \`{type, title, status, detail, error, errors?}\`. \`errors\` lists each
field at fault as \`{in, path, message}\`. With 4xx the request is at fault, with 5xx the server. What belongs to an account
that the caller has no access to is 404, as if it did not exist. \`Idempotency-Key\` makes a POST safe to repeat.

## Limits

Lists have up to 100 rows a page. 429 means too many requests or too much that waits, with \`Retry-After\`; 403
\`limit-reached\` means that the account has as many of something as its plan allows. \`GET /users/me\` shows the limits
and what is in use; docs/limits.md in the repository lists every bound.`;
