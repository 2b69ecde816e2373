import type { IndexesByCollection } from "../indexes.ts";
import { createIndexes } from "../indexes.ts";
import type { Migration } from "../migration.ts";

/** The indexes of the releases that stored no schema. A migration never changes once it is released, and reads no model. */
export const FIRST_INDEXES: IndexesByCollection = {
  api_keys: [
    { key: { hash: 1 }, name: "hash_1", unique: true },
    { key: { user_id: 1, _id: -1 }, name: "user_id_1__id_-1" },
  ],
  auto_subscriptions: [
    { key: { listener_id: 1 }, name: "listener_id_1" },
    {
      key: { owner_id: 1, listener_id: 1, event_name: 1 },
      name: "owner_id_1_listener_id_1_event_name_1",
      unique: true,
    },
    { key: { owner_id: 1, _id: -1 }, name: "owner_id_1__id_-1" },
  ],
  bundles: [],
  components: [
    { key: { owner_id: 1, code_hash: 1 }, name: "owner_id_1_code_hash_1", unique: true },
    { key: { owner_id: 1, _id: -1 }, name: "owner_id_1__id_-1" },
    { key: { bundle_hash: 1 }, name: "bundle_hash_1" },
    { key: { owner_id: 1, key: 1, _id: -1 }, name: "owner_id_1_key_1__id_-1" },
    { key: { key: 1, published: 1, updated_at: -1 }, name: "key_1_published_1_updated_at_-1" },
  ],
  deliveries: [
    { key: { emit_id: 1 }, name: "emit_id_1" },
    { key: { created_at: 1 }, name: "created_at_1", expireAfterSeconds: 2592000 },
    { key: { webhook_id: 1, _id: -1 }, name: "webhook_id_1__id_-1" },
    { key: { webhook_id: 1, state: 1, _id: -1 }, name: "webhook_id_1_state_1__id_-1" },
    {
      key: { webhook_id: 1, event_score: 1, _id: 1 },
      name: "ordered",
      partialFilterExpression: { state: "pending" },
    },
    {
      key: { webhook_id: 1, next_attempt_at_ms: 1 },
      name: "due_at_webhook",
      partialFilterExpression: { state: "pending" },
    },
    {
      key: { next_attempt_at_ms: 1 },
      name: "due",
      partialFilterExpression: { state: "pending", next_attempt_at_ms: { $gt: 0 } },
    },
    {
      key: { state: 1, sweep_at_ms: 1, owner_id: 1 },
      name: "state_1_sweep_at_ms_1_owner_id_1",
      partialFilterExpression: { state: "pending" },
    },
  ],
  events: [
    { key: { created_at: 1 }, name: "created_at_1", expireAfterSeconds: 2592000 },
    { key: { emitter_id: 1, score: 1 }, name: "emitter_id_1_score_1" },
    {
      key: { owner_id: 1, words: 1, score: -1 },
      name: "owner_id_1_words_1_score_-1",
      partialFilterExpression: { words: { $exists: true } },
    },
    {
      key: { "pending_dispatch.sweep_at_ms": 1 },
      name: "pending_dispatch",
      partialFilterExpression: { "pending_dispatch.sweep_at_ms": { $gt: 0 } },
    },
    {
      key: { "pending_dispatch.webhook_ids": 1, score: 1 },
      name: "pending_at_webhook",
      partialFilterExpression: { "pending_dispatch.sweep_at_ms": { $gt: 0 } },
    },
  ],
  identities: [{ key: { user_id: 1, issuer: 1 }, name: "user_id_1_issuer_1", unique: true }],
  invitations: [
    { key: { org_id: 1, email: 1 }, name: "org_id_1_email_1", unique: true },
    { key: { org_id: 1, _id: -1 }, name: "org_id_1__id_-1" },
    { key: { email: 1, _id: -1 }, name: "email_1__id_-1" },
    { key: { expires_at: 1 }, name: "expires_at_1", expireAfterSeconds: 0 },
  ],
  memberships: [
    { key: { user_id: 1 }, name: "user_id_1" },
    { key: { org_id: 1, _id: 1 }, name: "org_id_1__id_1" },
  ],
  organizations: [{ key: { orgname: 1 }, name: "orgname_1", unique: true }],
  replays: [
    { key: { owner_id: 1, _id: -1 }, name: "owner_id_1__id_-1" },
    { key: { owner_id: 1, state: 1 }, name: "running", partialFilterExpression: { state: "running" } },
    { key: { state: 1, _id: 1 }, name: "running_by_id", partialFilterExpression: { state: "running" } },
    { key: { state: 1, _id: -1 }, name: "failed_by_id", partialFilterExpression: { state: "failed" } },
    { key: { expires_at: 1 }, name: "expires_at_1", expireAfterSeconds: 0 },
  ],
  rollups: [{ key: { expires_at: 1 }, name: "expires_at_1", expireAfterSeconds: 0 }],
  runs: [
    { key: { expires_at: 1 }, name: "expires_at_1", expireAfterSeconds: 0 },
    { key: { source_id: 1, _id: -1 }, name: "source_id_1__id_-1" },
    { key: { source_id: 1, _id: -1 }, name: "failed", partialFilterExpression: { error: { $exists: true } } },
    {
      key: { finished_at: 1, _id: 1 },
      name: "unsent",
      partialFilterExpression: { "outbox.0": { $exists: true } },
    },
  ],
  sessions: [
    { key: { hash: 1 }, name: "hash_1", unique: true },
    { key: { user_id: 1, _id: -1 }, name: "user_id_1__id_-1" },
    { key: { key_id: 1 }, name: "key_id_1" },
    { key: { expires_at: 1 }, name: "expires_at_1", expireAfterSeconds: 0 },
  ],
  sign_in_links: [
    { key: { user_id: 1 }, name: "user_id_1" },
    { key: { expires_at: 1 }, name: "expires_at_1", expireAfterSeconds: 0 },
  ],
  source_memories: [],
  sources: [
    { key: { component_id: 1 }, name: "component_id_1" },
    { key: { owner_id: 1, state: 1, _id: -1 }, name: "owner_id_1_state_1__id_-1" },
    { key: { owner_id: 1, name_slug: 1 }, name: "owner_id_1_name_slug_1", unique: true },
    {
      key: { endpoint: 1 },
      name: "endpoint",
      unique: true,
      partialFilterExpression: { endpoint: { $gt: "" } },
    },
    { key: { state: 1, _id: 1 }, name: "state_1__id_1" },
    {
      key: { "begun.run_id": 1 },
      name: "begun",
      partialFilterExpression: { "begun.run_id": { $type: "string" } },
    },
    {
      key: { active: 1, state: 1, _id: 1 },
      name: "ticking",
      partialFilterExpression: { timer: { $type: "object" } },
    },
  ],
  subscriptions: [
    { key: { listener_id: 1 }, name: "listener_id_1" },
    {
      key: { emitter_id: 1, event_name: 1, owner_id: 1, listener_id: 1 },
      name: "emitter_id_1_event_name_1_owner_id_1_listener_id_1",
      unique: true,
    },
    { key: { owner_id: 1, _id: -1 }, name: "owner_id_1__id_-1" },
  ],
  users: [
    { key: { email: 1 }, name: "email_1", unique: true },
    { key: { username: 1 }, name: "username_1", unique: true },
  ],
  webhooks: [
    { key: { owner_id: 1, _id: -1 }, name: "owner_id_1__id_-1" },
    { key: { owner_id: 1 }, name: "ordered", partialFilterExpression: { ordered: true } },
    {
      key: { "recovery.state": 1, _id: 1 },
      name: "recovering",
      partialFilterExpression: { "recovery.state": "running" },
    },
    {
      key: { failing_since_ms: 1 },
      name: "failing",
      partialFilterExpression: { active: true, failing_since_ms: { $gt: 0 } },
    },
    {
      key: { disabled_reason: 1 },
      name: "disabled",
      partialFilterExpression: { disabled_reason: { $gt: "" } },
    },
  ],
  workflows: [{ key: { owner_id: 1, _id: -1 }, name: "owner_id_1__id_-1" }],
};

export const firstIndexes: Migration = {
  number: 1,
  name: "the first indexes",
  kind: "expand",
  run: context => createIndexes(context, FIRST_INDEXES),
};
