import { notFound } from "../../lib/errors.ts";
import { type Component, Components } from "../../models/component.ts";
import type { Platform } from "../../platform.ts";

/** Returns the component that an action uses, also one of another account. Throws `not-found`. */
export async function findComponent({ mongo }: Pick<Platform, "mongo">, id: string): Promise<Component> {
  const component = await Components(mongo).findById(id).lean();
  if (!component) throw notFound("component");
  return component;
}
