import { createHash } from "node:crypto";
import { basename, dirname, resolve } from "node:path";
import { type BundleOptions, bundleComponent } from "../../components/bundle.ts";
import { type DescribedComponent, describeComponent } from "../../components/describe.ts";
import { fromUrl } from "../../components/fetch-modules.ts";
import { fromFile, type ModuleLoader } from "../../components/load-modules.ts";
import type { Egress } from "../../egress/agent.ts";
import { AppError } from "../../lib/errors.ts";
import { configureProps, hasHttpInterface, type StoredProps, timerOf } from "../../props/configure.ts";
import type { Timer } from "../../props/timer.ts";
import type { Bundle } from "../../sandbox/bundle.ts";
import type { Sandboxes } from "../../sandbox/host.ts";
import { readPropsFile } from "../json-file.ts";

/** A component ready to run, with the values of its props. */
export interface LoadedCode {
  bundle: Bundle;
  description: DescribedComponent;
  values: StoredProps;
  timer: Timer | null;
  hasHttp: boolean;
}

/** The component's file or address, and the file with the values of its props. */
export interface Given {
  what: string;
  props?: string | undefined;
}

/** What a load has looked at, also one that failed: a change there is a reason to load again. */
export interface Looked {
  files: Set<string>;
  folders: Set<string>;
}

export const lookedAtNothing = (): Looked => ({ files: new Set(), folders: new Set() });

export interface LoadTools {
  sandboxes: Pick<Sandboxes, "describe">;
  egress: Pick<Egress, "request">;
  bundling: BundleOptions;
}

export const isUrl = (what: string): boolean => /^https?:\/\//i.test(what);

/** Remembers every file the loader gives, and the folder of every one it is asked for, found or not. */
function remembering(loader: ModuleLoader, entry: string, looked: Looked): ModuleLoader {
  const pathOf = (id: string) => resolve(dirname(entry), id);
  const look = (path: string) => {
    looked.files.add(path);
    looked.folders.add(dirname(path));
  };
  look(entry);
  return {
    field: { in: "component", path: basename(entry) },
    entry: () => loader.entry(),
    async resolve(specifier, importerId) {
      looked.folders.add(dirname(resolve(dirname(pathOf(importerId)), specifier)));
      const module = await loader.resolve(specifier, importerId);
      look(pathOf(module.id));
      return module;
    },
  };
}

/** Refusals about a file name props as the file has them, not as a request would. */
function asPropsFile(error: unknown, file: string | undefined): unknown {
  if (!(error instanceof AppError)) return error;
  const faults = error.fields.map(
    ({ path, message }) => `${path.replace("configured_props.", "")} ${message}`,
  );
  const hint = file === undefined ? " (--props FILE gives the values)" : "";
  return new AppError("invalid", `props${file ? ` in ${file}` : ""}: ${faults.join("; ")}${hint}`, {
    fields: error.fields,
    cause: error,
  });
}

/**
 * Bundles, describes and configures a component as saving and deploying it would, without stores. Throws AppError
 * naming the file with line and column, the fault in the component, or each missing or wrong prop.
 */
export async function loadCode(given: Given, looked: Looked, tools: LoadTools): Promise<LoadedCode> {
  const path = resolve(given.what);
  if (given.props !== undefined) {
    looked.files.add(resolve(given.props));
    looked.folders.add(dirname(resolve(given.props)));
  }
  const loader = isUrl(given.what)
    ? fromUrl(given.what, tools.egress)
    : remembering(fromFile(path), path, looked);
  const { code } = await bundleComponent(loader, tools.bundling);
  const bundle = { code, hash: createHash("sha256").update(code).digest("hex") };
  const description = await describeComponent(tools.sandboxes, bundle);
  const configured = await readPropsFile(given.props);
  try {
    const values = configureProps(description.props, configured);
    const hasHttp = hasHttpInterface(description.props);
    return { bundle, description, values, timer: timerOf(description.props, values), hasHttp };
  } catch (error) {
    throw asPropsFile(error, given.props);
  }
}
