import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { folderOfBundle, readShipped, type ShippedComponent } from "../../src/gallery/shipped.ts";
import type { HttpEvent } from "../../src/ingress/http-event.ts";
import { actionPropsFor, configureActionProps } from "../../src/props/action-props.ts";
import { configureProps, propValuesForRun } from "../../src/props/configure.ts";
import { HTTP_TYPE } from "../../src/props/kinds.ts";
import { type DedupeMemory, dedupe, inOrder } from "../../src/runs/dedupe.ts";
import type { CallResult, ComponentCall, Emit } from "../../src/sandbox/protocol.ts";
import type { Sandboxes } from "../../src/sandbox/sandboxes.ts";
import type { AuthorVerify } from "../../src/verify/schema.ts";
import { openVerification } from "../../src/verify/settings.ts";
import { verifyRequest } from "../../src/verify/verify-request.ts";

/** Returns a component of the gallery as the build wrote it, by its key. */
export async function shipped(key: string): Promise<ShippedComponent> {
  const { components } = await readShipped();
  const found = components.find(one => one.key === key);
  if (!found) throw new Error(`the gallery has no ${key}: npm run build`);
  return found;
}

/** Returns its bundle as sandboxes load it. */
export const bundleOf = async (component: ShippedComponent) => ({
  code: await readFile(join(folderOfBundle(component), "component.mjs"), "utf8"),
  hash: component.built.bundleHash,
});

/** What of a request's event is as it arrived. */
type RawEvent = Pick<HttpEvent, "method" | "url" | "headers" | "bodyRaw">;

/** A deployed source, as far as the sandbox and dedupe know of it. */
export interface ShippedSource {
  /** Calls it with the state that the last call left, and returns what is emitted; `failed` is what it threw. */
  call(call: ComponentCall, event?: unknown): Promise<{ emits: Emit[]; failed: string | null }>;
  /** As a request would: one that the source does not verify runs nothing. */
  run(event?: unknown): Promise<{ emits: Emit[]; failed: string | null }>;
  /** The events of a run that must not fail. */
  events(event?: unknown): Promise<unknown[]>;
  /** What its form offers as the values of a prop. */
  choices(prop: string): Promise<unknown[]>;
  db(): Record<string, unknown>;
  /** Continues with other props, as an update of the source does. */
  configure(configured: Record<string, unknown>): void;
}

/** Opens a source of the gallery in a real sandbox; its db and its dedupe are kept as they are between runs. */
export async function openSource(
  sandboxes: Sandboxes,
  key: string,
  configured: Record<string, unknown> = {},
): Promise<ShippedSource> {
  const component = await shipped(key);
  const bundle = await bundleOf(component);
  const { description } = component;
  const { props } = description;
  const valuesOf = (given: Record<string, unknown>) =>
    propValuesForRun(props, configureProps(props, given), { endpointUrl: "http://127.0.0.1/in/x" });
  let values = valuesOf(configured);
  let db: Record<string, unknown> = {};
  let memory: DedupeMemory = {};
  let secret: string | undefined;
  const call = async (what: ComponentCall, event: unknown = {}) => {
    const result = await sandboxes.call(`${key}:test`, bundle, { call: what, event, props: values, db });
    db = result.db ?? db;
    secret = what === "deactivate" ? undefined : (result.secret ?? secret);
    const deduped = dedupe(description, memory, inOrder(result.emits));
    memory = JSON.parse(JSON.stringify(deduped.memory));
    return { emits: deduped.kept, failed: result.error?.message ?? null };
  };
  const verify = props.find(({ type }) => type === HTTP_TYPE)?.verify as AuthorVerify | undefined;
  const isVerified = ({ method, url, headers, bodyRaw }: RawEvent) => {
    const distinct = Object.entries(headers).map(([name, value]) => [name, [value]]);
    const request = { method, url, headers: Object.fromEntries(distinct), body: Buffer.from(bodyRaw) };
    const ofProp = typeof verify?.secret === "string" ? values[verify.secret] : secret;
    const opened = openVerification(verify ?? {}, typeof ofProp === "string" ? [ofProp] : []);
    return verifyRequest(opened, request, Date.now()).outcome === "verified";
  };
  const run = async (event?: unknown) =>
    verify && !isVerified(event as RawEvent) ? { emits: [], failed: null } : await call("run", event);
  return {
    call,
    run,
    async events(event) {
      const { emits, failed } = await run(event);
      if (failed !== null) throw new Error(failed);
      return emits.map(one => one.event);
    },
    async choices(prop) {
      const event = { prop, page: 0 };
      const request = { call: "options" as const, event, props: values, db: {} };
      const { emits, error } = await sandboxes.call(`${key}:test`, bundle, request);
      if (error) throw new Error(error.message);
      const [listed] = emits.map(one => one.event as { options: unknown[] });
      return listed?.options ?? [];
    },
    db: () => db,
    configure: given => {
      values = valuesOf(given);
    },
  };
}

/** Runs an action of the gallery once in a real sandbox, with its templates filled in and the db that a run before returned. */
export async function runAction(
  sandboxes: Sandboxes,
  key: string,
  configured: Record<string, unknown>,
  event: unknown,
  db: CallResult["db"] = {},
): Promise<Pick<CallResult, "emits" | "db"> & { failed: string | null }> {
  const component = await shipped(key);
  const { props } = component.description;
  const context = { id: "dlv_0CjBAEdF3kWq9RtZ", event_id: "1-0" };
  const stored = actionPropsFor(props, configureActionProps(props, configured), { event, context });
  const values = propValuesForRun(props, stored, { endpointUrl: null });
  const result = await sandboxes.call(`${key}:test`, await bundleOf(component), {
    ...{ call: "action", event: { event, context }, props: values, db: db ?? {} },
  });
  return { emits: result.emits, db: result.db, failed: result.error?.message ?? null };
}
