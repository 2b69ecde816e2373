import type { Connection } from "../connection.ts";
import { List } from "../list.ts";
import type { BodyOf, QueryOf } from "../operations.ts";
import type { CallOptions } from "../options.ts";
import { BUILD_MS } from "../publish.ts";
import type { Component } from "../schema.ts";

/** Components: the code of sources and actions. */
export class Components {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Lists the components that the caller saved, newest first; `type`: only those that are deployed as sources, or as actions; `q`: with a text in name, key, address or id. */
  list(query: QueryOf<"/components", "get"> = {}, options?: CallOptions): List<Component> {
    return new List(query, cursor =>
      this.#connection.send("get", "/components", { query: { ...query, ...cursor } }, options),
    );
  }

  /** Fetches a component by its id or key. */
  get(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/components/{id}", { params: { id } }, options);
  }

  /** Fetches the own files of a component, as a request that edits it takes them. */
  files(id: string, options?: CallOptions) {
    return this.#connection.send("get", "/components/{id}/files", { params: { id } }, options);
  }

  /** Fetches a published component by its key. */
  getPublished(key: string, options?: CallOptions) {
    return this.#connection.send("get", "/components/registry/{key}", { params: { key } }, options);
  }

  /** Saves a component, by its code, its files or its address. */
  create(body: BodyOf<"/components", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/components", { body }, { usualMs: BUILD_MS, ...options });
  }

  /** Deletes a component that no source and no action uses. */
  delete(id: string, options?: CallOptions) {
    return this.#connection.send("delete", "/components/{id}", { params: { id } }, options);
  }

  /** Checks code without saving it. */
  describe(body: BodyOf<"/components/describe", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/components/describe", { body }, { usualMs: BUILD_MS, ...options });
  }

  /** Runs code once without saving it. */
  try(body: BodyOf<"/components/try", "post">, options?: CallOptions) {
    return this.#connection.send("post", "/components/try", { body }, { usualMs: BUILD_MS, ...options });
  }

  /** Runs a saved component once without deploying it. */
  trySaved(id: string, body: BodyOf<"/components/{id}/try", "post">, options?: CallOptions) {
    const path = "/components/{id}/try";
    return this.#connection.send("post", path, { params: { id }, body }, { usualMs: BUILD_MS, ...options });
  }

  /** Gets the props that `additionalProps` makes of the values so far, and the id to deploy them with. */
  props(id: string, body: BodyOf<"/components/{id}/props", "post"> = {}, options?: CallOptions) {
    const path = "/components/{id}/props";
    return this.#connection.send("post", path, { params: { id }, body }, { usualMs: BUILD_MS, ...options });
  }

  /** Lists the choices of a prop, page by page, with the props so far. */
  configure(id: string, body: BodyOf<"/components/{id}/configure", "post">, options?: CallOptions) {
    const path = "/components/{id}/configure";
    return this.#connection.send("post", path, { params: { id }, body }, { usualMs: BUILD_MS, ...options });
  }
}
