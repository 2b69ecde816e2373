import type { Config } from "../../config.ts";
import { notFound } from "../../lib/errors.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { type Component, Components } from "../../models/component.ts";
import type { Stores } from "../../platform.ts";
import type { StoredProps } from "../../props/configure.ts";
import type { DynamicProps } from "../../props/dynamic-props.ts";

/** What is stored of an action, encrypted. */
export interface ActionSettings {
  component_id: string;
  configured_props: StoredProps;
  /** The props that its component's `additionalProps` made for it; null or absent if there are none. */
  dynamic?: DynamicProps | null;
  /** Names of the props whose values are never shown. */
  hidden: string[];
}

/** Returns the component that an action uses, also one of another account. Throws `not-found`. */
export async function findComponent({ mongo }: Stores, id: string): Promise<Component> {
  const component = await Components(mongo).findById(id).lean();
  if (!component) throw notFound("component");
  return component;
}

/** Loading the code has time of its own (src/sandbox/call-runner.ts). */
const LOAD_MS = 30_000;

/** The longest that an attempt of an action can take: its wait for a sandbox, loading, and the run. Milliseconds. */
export const actionMs = ({ sandbox }: Pick<Config, "sandbox">): number =>
  LIMITS.actionWaitMs.value + LOAD_MS + sandbox.runMs;
