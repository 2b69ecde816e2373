import { createHash } from "node:crypto";
import { basename, dirname, resolve } from "node:path";
import { type BundleOptions, bundleComponent } from "../../components/bundle.ts";
import { isAction } from "../../components/code-traits.ts";
import {
  additionalPropsCall,
  checkAdded,
  type MakingCode,
  makeProps,
} from "../../components/configure/call-additional-props.ts";
import { type DescribedComponent, describeComponent } from "../../components/describe.ts";
import { fromUrl } from "../../components/fetch-modules.ts";
import { fromFile, type ModuleLoader } from "../../components/load-modules.ts";
import type { Egress } from "../../egress/agent.ts";
import { AppError } from "../../lib/errors.ts";
import { LIMITS } from "../../limits/catalogue.ts";
import { configureProps, hasHttpInterface, type StoredProps, timerOf } from "../../props/configure.ts";
import { withAddedProps } from "../../props/dynamic-props.ts";
import type { Timer } from "../../props/timer.ts";
import type { Bundle } from "../../sandbox/bundle.ts";
import type { DescribedProp } from "../../sandbox/protocol.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import { isUrl, readPropsFile } from "../input.ts";

/** A component ready to run, with the values of its props. */
export interface LoadedCode {
  bundle: Bundle;
  description: DescribedComponent;
  /** Its own props, with those that its `additionalProps` made. */
  props: DescribedProp[];
  added: DescribedProp[];
  values: StoredProps;
  timer: Timer | null;
  hasHttp: boolean;
}

export interface ComponentInput {
  /** The component's file or URL. */
  location: string;
  /** JSON file with the values of its props. */
  props?: string | undefined;
}

/** The files that a load used, even if it failed, those that it did not find, and the folders in which it looked for files. */
export interface WatchedPaths {
  files: Set<string>;
  /** As imports name them. */
  missing: Set<string>;
  folders: Set<string>;
}

export const newWatchedPaths = (): WatchedPaths => ({
  files: new Set(),
  missing: new Set(),
  folders: new Set(),
});

export interface LoadTools {
  sandboxes: Pick<Sandboxes, "describe" | "call" | "drop">;
  egress: Pick<Egress, "request">;
  bundling: BundleOptions;
}

function addFile(watched: WatchedPaths, path: string): void {
  watched.files.add(path);
  watched.folders.add(dirname(path));
}

/**
 * Adds every file that the loader returns to `watched`, and the folder of every file it was asked for, found or not.
 */
function recordPaths(loader: ModuleLoader, entry: string, watched: WatchedPaths): ModuleLoader {
  const pathOf = (id: string) => resolve(dirname(entry), id);
  addFile(watched, entry);
  return {
    field: { in: "component", path: basename(entry) },
    entry: () => loader.entry(),
    async resolve(specifier, importerId) {
      const wanted = resolve(dirname(pathOf(importerId)), specifier);
      watched.folders.add(dirname(wanted));
      watched.missing.add(wanted);
      const module = await loader.resolve(specifier, importerId);
      watched.missing.delete(wanted);
      addFile(watched, pathOf(module.id));
      return module;
    },
    declaredRange: async (name, importerId) => (await loader.declaredRange?.(name, importerId)) ?? "",
  };
}

/** Rewrites an error about `configured_props` of a request as one about the props file. */
function asPropsFileError(error: unknown, file: string | undefined): unknown {
  if (!(error instanceof AppError) || error.fields.every(field => field.in === "component")) return error;
  const faults = error.fields.map(
    ({ path, message }) => `${path.replace("configured_props.", "")} ${message}`,
  );
  const hint = file === undefined ? " (set values with --props FILE)" : "";
  return new AppError("invalid", `props${file ? ` in ${file}` : ""}: ${faults.join("; ")}${hint}`, {
    fields: error.fields,
    cause: error,
  });
}

/**
 * Bundles, describes and configures a component as a server does when it is saved and deployed, but without stores.
 * Adds the paths on which the result depends to `watched`. Throws AppError naming the file with line and column, what
 * is wrong in the component, or each missing or invalid prop.
 */
export async function loadCode(
  input: ComponentInput,
  watched: WatchedPaths,
  tools: LoadTools,
): Promise<LoadedCode> {
  const path = resolve(input.location);
  if (input.props !== undefined) addFile(watched, resolve(input.props));
  const loader = isUrl(input.location)
    ? fromUrl(input.location, tools.egress)
    : recordPaths(fromFile(path), path, watched);
  const { code } = await bundleComponent(loader, tools.bundling);
  const bundle = { code, hash: createHash("sha256").update(code).digest("hex") };
  const description = await describeComponent(tools.sandboxes, bundle);
  if (isAction(description)) {
    throw new AppError(
      "invalid",
      "headwater dev runs sources, and this is an action: POST /v1/components/try runs it once",
    );
  }
  const configured = await readPropsFile(input.props);
  try {
    const added = await addedFor(tools, { bundle, description }, configured);
    const props = withAddedProps(description.props, added);
    const values = configureProps(props, configured);
    const timer = timerOf(props, values);
    return { ...{ bundle, description, props, added, values, timer }, hasHttp: hasHttpInterface(props) };
  } catch (error) {
    throw asPropsFileError(error, input.props);
  }
}

/** Returns the props that the code's `additionalProps` makes of the configured ones. Throws as `makeProps` does. */
export async function addedFor(
  { sandboxes }: Pick<LoadTools, "sandboxes">,
  { bundle, description }: MakingCode,
  configured: unknown,
): Promise<DescribedProp[]> {
  if (!description.hasAdditionalProps) return [];
  const key = `dev-props:${bundle.hash}`;
  const given = { configured: (configured ?? {}) as Record<string, unknown> };
  try {
    const made = await makeProps(description, given, async soFar => {
      const request = additionalPropsCall(description, soFar, null);
      const wallMs = LIMITS.additionalPropsMs.value;
      const { error, emits } = await sandboxes.call(key, bundle, request, { wallMs });
      return error
        ? { props: [], error }
        : { props: checkAdded(description, emits.at(-1)?.event), error: null };
    });
    return made.props;
  } finally {
    sandboxes.drop(key);
  }
}
