import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BuildResult } from "../components/builder/calls.ts";
import type { GivenFiles } from "../components/read-files.ts";
import { openOnce } from "../lib/lazy.ts";
import type { ComponentDescription } from "../sandbox/protocol.ts";
import type { Change, GalleryApp } from "./schema.ts";

/** A component as the build wrote it: its code, and what there is to know of it without running it. */
export interface ShippedComponent {
  /** Key of its app. */
  app: string;
  /** As components are found. */
  key: string;
  code: string;
  files: GivenFiles | null;
  description: ComponentDescription;
  /** An event as it emits them; null if its code has none. */
  sample: unknown;
  /** The latest version first. */
  changelog: Change[];
  built: BuildResult;
}

/** What the release has to start with, in the order in which it is shown. */
export interface Shipped {
  apps: GalleryApp[];
  components: ShippedComponent[];
}

/** What script/lib/gallery.mjs built, also for a process that runs from the sources (`npm run dev`). */
const BUILT = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist/gallery" : "../../gallery", import.meta.url),
);

/** Returns the gallery of this release, which is read once; it is empty where none was built. */
export const readShipped = async (): Promise<Shipped> => shipped.get();

const shipped = openOnce(async () => {
  const text = await readFile(join(BUILT, "gallery.json"), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return '{ "apps": [], "components": [] }';
    throw error;
  });
  return JSON.parse(text) as Shipped;
});

/** Returns the folder of a component's bundle. */
export const folderOfBundle = ({ key }: ShippedComponent): string => join(BUILT, key);
