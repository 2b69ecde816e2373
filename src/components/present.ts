import { type Static, Type } from "typebox";
import type { Component } from "../models/component.ts";
import type { ComponentDescription, Emit } from "../sandbox/protocol.ts";
import { typeOf } from "./code-traits.ts";

/** Returns a component as the API shows it (docs/rest-api.md#component). */
export function presentComponent(component: Component) {
  const { _id, code, code_hash, name, version, key, component_url, description } = component;
  const { owner_id, published, created_at, updated_at } = component;
  return {
    id: _id,
    code,
    code_hash,
    type: typeOf(description),
    name,
    version,
    key,
    component_url,
    ...ownWords(description),
    configurable_props: presentProps(description),
    additional_props: description.hasAdditionalProps === true,
    owner_id,
    published,
    created_at,
    updated_at,
  };
}

/** Returns what a component says of itself, as the API shows it. */
export const ownWords = (
  description: Pick<ComponentDescription, "description" | "dedupe" | "remember"> | undefined,
) => ({
  description: description?.description ?? null,
  dedupe: description?.dedupe ?? null,
  remember: description?.remember ?? null,
});

/** Returns the props of a component as the API shows them. */
export const presentProps = ({ props }: Pick<ComponentDescription, "props">) =>
  props.map(
    ({
      remoteOptions,
      customResponse,
      reloadProps,
      useQuery,
      appProp,
      eventNames,
      remoteEventNames,
      ...prop
    }) => ({
      ...prop,
      ...(appProp !== undefined && { app_prop: appProp }),
      ...(eventNames && { event_names: eventNames }),
      ...(remoteEventNames && { remote_event_names: true }),
      ...(reloadProps && { reload_props: true }),
      ...(useQuery && { use_query: true }),
      ...(remoteOptions && { remote_options: true }),
      ...(customResponse && { custom_response: true }),
    }),
  );

const OrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** An event that code emitted, as the API shows it where it is not stored. */
export const EmitSchema = Type.Object({
  event: Type.Unknown(),
  name: Type.String({ description: "Channel; empty for the default channel." }),
  id: Type.Union([Type.String(), Type.Number(), Type.Null()], {
    description: "What `dedupe` would compare.",
  }),
  summary: OrNull("A line for people."),
  ts: Type.Union([Type.Number(), Type.Null()]),
});

export const presentEmit = ({
  event,
  metadata: { name, id, summary, ts },
}: Emit): Static<typeof EmitSchema> => ({
  event,
  name: name ?? "",
  id: id ?? null,
  summary: summary ?? null,
  ts: ts ?? null,
});
