import type { CallRequest, DescribedProp } from "../protocol.ts";
import type { Call } from "./call.ts";
import { type Component, objectOf, type PropDefinition, propsOf, withHidden } from "./component.ts";
import { httpRequestProp, readResponse, readSecret } from "./http-service.ts";
import type { ServiceDb } from "./service-db.ts";

export interface Binding {
  request: CallRequest;
  call: Call;
  db: ServiceDb;
  maxResponseBytes: number;
}

/**
 * Returns `this` of run, hooks and methods: one flat object, new for each call (docs/component-api.md#shape). What code gets by
 * spreading it, which many send on as they get it, are the props alone.
 */
export function bindThis(component: Component, binding: Binding): Record<string, unknown> {
  const self: Record<string, unknown> = { ...binding.request.props };
  const own = propsOf(component);
  const added = (binding.request.added ?? []).map(prop => [prop.name, definitionOf(prop, own)] as const);
  for (const [name, prop] of [...own, ...added]) {
    const given = binding.request.props[name];
    const value = isUnsupportedService(prop, given)
      ? unsupportedService(name, prop)
      : propValue(prop, given, binding);
    if (value !== undefined) self[name] = value;
  }
  bindMethods(self, component.methods);
  return withHidden(self, {
    // Returns a promise because components await it; the event is sent before it returns.
    $emit(event: unknown, metadata?: unknown) {
      binding.call.emit(event, metadata);
      return Promise.resolve();
    },
  });
}

/** Returns the definition of a prop that `additionalProps` made: an app has the methods of the same app in the code. */
function definitionOf(
  prop: DescribedProp,
  own: readonly (readonly [string, PropDefinition])[],
): PropDefinition {
  const app = prop.type === "app" && own.find(([, one]) => one.type === "app" && one.app === prop.app);
  return app ? app[1] : { ...prop };
}

function propValue(prop: PropDefinition, value: unknown, binding: Binding): unknown {
  switch (prop.type) {
    case "$.service.db":
      return binding.db;
    case "$.interface.http":
      return httpProp(prop, value, binding);
    case "http_request":
      return httpRequestProp(value);
    case "app":
      return appProp(prop, value, binding);
    default:
      return value;
  }
}

function appProp(definition: PropDefinition, value: unknown, { db }: Binding): Record<string, unknown> {
  const { methods, props, ...rest } = definition;
  const values = objectOf(value);
  const app = withHidden({}, { ...rest, db });
  for (const [name, prop] of Object.entries(objectOf(props))) {
    if (prop === "$.service.db" || objectOf(prop).type === "$.service.db") withHidden(app, { [name]: db });
  }
  for (const [name, given] of Object.entries({ ...values, $auth: objectOf(values.$auth) })) {
    Object.defineProperty(app, name, { value: given, writable: true, configurable: true, enumerable: true });
  }
  bindMethods(app, methods);
  return app;
}

function httpProp(
  prop: PropDefinition,
  value: unknown,
  { request, call, maxResponseBytes }: Binding,
): Record<string, unknown> {
  const given = objectOf(value);
  const known =
    typeof value === "string" ? value : (given.endpoint_url ?? given.endpointUrl ?? given.endpoint);
  // Hooks give it to senders.
  const endpoint = request.call === "run" ? known : (given.registeredUrl ?? known);
  return withHidden(
    { endpoint, endpointUrl: endpoint },
    {
      respond(response: unknown) {
        call.respond(readResponse(response, maxResponseBytes));
        return Promise.resolve();
      },
      setSecret(secret: unknown) {
        call.setSecret(readSecret(secret, prop, request.call));
        return Promise.resolve();
      },
    },
  );
}

function bindMethods(self: Record<string, unknown>, methods: unknown): void {
  for (const [name, method] of Object.entries(objectOf(methods))) {
    withHidden(self, { [name]: typeof method === "function" ? method.bind(self) : method });
  }
}

/** Prop types for services that Headwater does not provide (docs/component-api.md#props). */
const UNSUPPORTED = new Set<unknown>(["data_store", "dir", "sql"]);

/** Returns true for a prop that must fail when it is used. An optional prop without a value is undefined instead. */
function isUnsupportedService(prop: PropDefinition, given: unknown): boolean {
  return UNSUPPORTED.has(prop.type) && !(prop.optional && given === undefined);
}

/** Returns an object of which every read or change throws a ConfigurationError that names the prop. */
function unsupportedService(name: string, { type }: PropDefinition): unknown {
  const fail = (): never => {
    const message = `The prop "${name}" has the type ${String(type)}, a service that Headwater does not provide`;
    throw Object.assign(new Error(message), { name: "ConfigurationError" });
  };
  return new Proxy(Object.create(null), {
    // The language reads these itself if the value is awaited, logged or written as JSON; that must not fail.
    get: (_target, key) =>
      typeof key === "symbol" || key === "then" || key === "toJSON" ? undefined : fail(),
    has: fail,
    set: fail,
    deleteProperty: fail,
  });
}
