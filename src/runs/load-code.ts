import { type ConnectDeps, connectProps } from "../connections/connect-props.ts";
import type { UsedToken } from "../connections/note-use.ts";
import type { Component } from "../models/component.ts";
import type { Source } from "../models/source.ts";
import type { Platform } from "../platform.ts";
import { propValuesForRun } from "../props/configure.ts";
import { boundProp } from "../props/dynamic-props.ts";
import type { Bundle } from "../sandbox/bundle.ts";
import type { CallRequest } from "../sandbox/protocol.ts";
import { propsOfSource } from "../sources/dynamic-props.ts";
import { sourceFacts } from "../sources/endpoint.ts";

/** What the sandbox puts on `this`: values by the name of their prop, and the props that are not in the code. */
export interface BoundProps extends Pick<CallRequest, "props" | "added"> {
  /** The tokens among the values. */
  tokens: UsedToken[];
}

/**
 * Decrypts a source's props and returns what the sandbox puts on `this`, with the credentials of its connections. Throws as
 * `connectProps` does.
 */
export async function boundProps(
  platform: ConnectDeps & Pick<Platform, "config">,
  source: Pick<Source, "owner_id" | "configured_props" | "dynamic_props" | "endpoint">,
  component: Pick<Component, "description" | "adds_slash">,
  signal: AbortSignal,
): Promise<BoundProps> {
  const { props, dynamic } = propsOfSource(platform, component, source);
  const stored = JSON.parse(platform.secrets.open(source.configured_props));
  const { values, tokens } = await connectProps(platform, source.owner_id, { props, values: stored }, signal);
  const bound = propValuesForRun(props, values, sourceFacts(platform, source.endpoint, component));
  return { props: bound, added: dynamic?.props.map(boundProp), tokens };
}

/**
 * True if a source's runs may use a process in turn with those of other sources that have the same owner and the same code:
 * it has a timer, and neither an endpoint to which strangers send nor an app's events (docs/decisions/0023-timers-share-processes.md).
 */
export const mayShareProcess = ({
  timer,
  endpoint,
  app_events,
}: Pick<Source, "timer" | "endpoint" | "app_events">): boolean =>
  timer !== null && endpoint === null && !app_events;

/** Calls with the same key may share a sandbox process: one source with one bundle. */
export const processKey = (source: Pick<Source, "_id">, bundle: Bundle): string =>
  `${source._id}:${bundle.hash}`;
