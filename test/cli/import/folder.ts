import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "yaml";

/** A folder into which things are imported. */
export async function openFolder() {
  const path = await mkdtemp(join(tmpdir(), "headwater-import-"));
  const read = (name: string) => readFile(join(path, name), "utf8");
  return {
    path,
    read,
    // biome-ignore lint/suspicious/noExplicitAny: each test knows what it imported
    declared: async (): Promise<any> => parse(await read("headwater.yaml")),
    /** Paths of all files below the folder; none once it is gone. */
    async files(): Promise<string[]> {
      if (!existsSync(path)) return [];
      const entries = await readdir(path, { recursive: true, withFileTypes: true });
      const found = entries.filter(entry => entry.isFile());
      return found.map(entry => join(entry.parentPath, entry.name).slice(path.length + 1)).sort();
    },
    async save(name: string, text: string): Promise<void> {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await writeFile(join(path, name), text);
    },
    close: () => rm(path, { recursive: true, force: true }),
  };
}

export type Folder = Awaited<ReturnType<typeof openFolder>>;
