import { checkUrlText } from "../egress/check-url.ts";
import { AppError, invalidField, notFound } from "../lib/errors.ts";
import type { Component } from "../models/component.ts";
import { isAction } from "./code-traits.ts";
import { type Deployer, findComponentToRun } from "./find.ts";
import { CODE_SOURCES } from "./given-files.ts";
import { type SaveDeps, saveComponent } from "./save.ts";

/** The ways in which a request names a component. */
export interface ComponentInput {
  component_id?: string;
  component_code?: string;
  files?: Record<string, string>;
  entry?: string;
  component_url?: string;
  key?: string;
}

/** The fields of which a request that names a component has one, in the order in which they count. */
export const COMPONENT_SOURCES = ["component_id", "key", ...CODE_SOURCES] as const;
const FIELDS = [...COMPONENT_SOURCES, "entry"] as const;

const URL_FIELD = { in: "body", path: "component_url" } as const;

/** True if the request names a component in any of these ways. */
export const namesComponent = (input: ComponentInput): boolean =>
  FIELDS.some(field => input[field] !== undefined);

/**
 * True if the request names a component, by its id or key, that is another one than before. To send code is to edit one's
 * own: who may edit it can read the secrets that it gets (docs/rest-api.md#secrets-and-updates).
 */
export const isReplaced = (
  input: ComponentInput,
  component: Component,
  beforeId: string | undefined,
): boolean =>
  (input.component_id ?? input.key) !== undefined && beforeId !== undefined && component._id !== beforeId;

/**
 * Finds or saves the component that a request names: by id, else by key, else by its code (`saveComponent`). What an organization
 * deploys may use every component that the deploying member can read (docs/rest-api.md#sources). Throws `not-found`,
 * `conflict` for a key that means several, and `invalid` also for an action that is deployed as a source or the reverse.
 */
export async function resolveComponent(
  platform: SaveDeps,
  deployer: Deployer,
  input: ComponentInput,
  as: "source" | "action",
): Promise<Component> {
  // Also where it is only metadata.
  if (input.component_url !== undefined) checkUrlText(input.component_url, URL_FIELD);
  const component = await findOrSave(platform, deployer, input);
  if (isAction(component.description) === (as === "action")) return component;
  const path = FIELDS.find(field => input[field] !== undefined) ?? "component_id";
  const message = as === "action" ? IS_SOURCE : IS_ACTION;
  throw invalidField("body", path, message);
}

const IS_SOURCE = 'is not an action (type: "action"); deploy it by POST /sources';
const IS_ACTION = 'is an action; deploy it by POST /destinations with the kind "action"';

async function findOrSave(platform: SaveDeps, deployer: Deployer, input: ComponentInput): Promise<Component> {
  const named = input.component_id ?? input.key;
  if (named !== undefined) {
    const component = await findComponentToRun(platform, named, deployer.readable);
    if (!component) throw notFound("component");
    return component;
  }
  if (!namesComponent(input)) {
    throw new AppError("invalid", `one of ${COMPONENT_SOURCES.join(", ")} is required`, {
      fields: COMPONENT_SOURCES.map(path => ({
        in: "body" as const,
        path,
        message: "one of these is required",
      })),
    });
  }
  return saveComponent(platform, { ownerId: deployer.owner, userId: deployer.userId }, input);
}
