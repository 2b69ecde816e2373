import { accountListsFor } from "../http/account-lists.ts";
import { data, empty, page, routeFor } from "../http/route.ts";
import type { Working } from "../platform.ts";
import { ownWebhook } from "./find.ts";
import { exampleWebhook, presentWebhook } from "./present.ts";
import {
  NewKey,
  NewWebhookBody,
  NewWebhookParams,
  UpdatedWebhook,
  WebhookChanges,
  WebhookFilter,
  WebhookView,
  WebhookWithKey,
} from "./schema.ts";
import { createWebhook, deleteWebhook, listWebhooks, rotateSigningKey, updateWebhook } from "./webhooks.ts";

const route = routeFor<Working>();
const accountLists = accountListsFor<Working>();

const example = exampleWebhook;
const params = { id: example.id };
const signing_key = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/** Routes that manage webhooks (docs/rest-api.md#webhooks). */
export const webhookRoutes = [
  route({
    method: "POST",
    path: "/webhooks",
    id: "createWebhook",
    audit: "webhook.created",
    tag: "Webhooks",
    summary: "Create a webhook",
    description:
      "A webhook receives events through subscriptions. The response contains its `signing_key`, which is " +
      "never shown again: a new one, or the one that the body has.",
    access: { kind: "owner" },
    query: NewWebhookParams,
    body: NewWebhookBody,
    response: data(201, WebhookWithKey),
    errors: ["limit-reached"],
    links: { createSubscription: "listener_id" },
    example: { query: { url: example.url, name: "orders" }, response: { ...example, signing_key } },
    handler: ({ deps, query, body, owner, caller }) =>
      createWebhook(deps, { ownerId: owner, userId: caller.userId, ...query, ...body }),
  }),
  ...accountLists({
    things: "webhooks",
    tag: "Webhooks",
    description: "The newest first. Signing keys and values of custom headers are never shown.",
    query: WebhookFilter,
    response: page(200, WebhookView),
    example: example,
    read: ({ deps, owner, query, page }) => listWebhooks(deps, owner, query, page),
  }),
  route({
    method: "GET",
    path: "/webhooks/{id}",
    id: "getWebhook",
    tag: "Webhooks",
    summary: "Get a webhook",
    description: "The signing key is shown only when the webhook is created and when the key is replaced.",
    access: ownWebhook,
    response: data(200, WebhookView),
    example: { params, response: example },
    handler: async ({ deps, resource }) => presentWebhook(deps, resource),
  }),
  route({
    method: "PUT",
    path: "/webhooks/{id}",
    id: "updateWebhook",
    audit: "webhook.updated",
    tag: "Webhooks",
    summary: "Update a webhook",
    description:
      "Fields that are left out stay unchanged; the `url` of another server (scheme, host or port) removes the custom headers " +
      "unless they are given again (`secrets_removed`). Pending deliveries go to the url that is set when each attempt is made.",
    access: ownWebhook,
    body: WebhookChanges,
    response: data(200, UpdatedWebhook),
    example: { params, body: { active: true }, response: { ...example, secrets_removed: [] } },
    handler: ({ deps, resource, body }) => updateWebhook(deps, resource, body),
  }),
  route({
    method: "DELETE",
    path: "/webhooks/{id}",
    id: "deleteWebhook",
    audit: "webhook.deleted",
    tag: "Webhooks",
    summary: "Delete a webhook",
    description: "Also deletes its subscriptions and cancels its pending deliveries.",
    access: ownWebhook,
    response: empty(204),
    example: { params },
    handler: async ({ deps, resource }) => {
      await deleteWebhook(deps, resource);
    },
  }),
  route({
    method: "POST",
    path: "/webhooks/{id}/rotate_signing_key",
    id: "rotateSigningKey",
    audit: "webhook.signing_key_rotated",
    tag: "Webhooks",
    summary: "Replace the signing key of a webhook",
    description:
      "The response contains the new `signing_key`, yours if the body has one, which is never shown again. The old key also signs for 24 more " +
      "hours: `webhook-signature` and `x-pd-signature` then carry one signature per key, newest first. Another `signing` goes over to it " +
      "in this way.",
    access: ownWebhook,
    body: NewKey,
    response: data(200, WebhookWithKey),
    errors: ["conflict"],
    example: { params, body: {}, response: { ...example, signing_key } },
    handler: ({ deps, resource, body }) => rotateSigningKey(deps, resource, body),
  }),
];
