import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../support/built.ts";
import { read } from "./repository.ts";

const client = pathToFileURL(join(root, "clients/typescript/src")).href;

/** The code of a page that begins with a comment with its file's name; it imports the client's sources as the client. */
export function codeOf(page: string, name: string): string {
  const [, code] =
    new RegExp(`^\`\`\`\\w+\n((?:<\\?php )?(?://|#) ${name}\n.*?)^\`\`\``, "ms").exec(read(page)) ?? [];
  if (code === undefined) throw new Error(`${page} has no ${name}`);
  return code
    .replace('"@headwater/client"', `"${client}/index.ts"`)
    .replace('"@headwater/client/webhooks"', `"${client}/webhooks/index.ts"`);
}

/** Returns the blocks of a page in one language, in their order. */
export const blocksOf = (page: string, language: string): string[] =>
  [...read(page).matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(
    ([, code = ""]) => code,
  );

/** Returns the blocks of a page that begin with a comment with their file's name, by that name. */
export function namedFilesOf(page: string): Map<string, string> {
  const named = read(page).matchAll(/^```\w+\n((?:\/\/|#) ([\w-]+\.\w+)\n.*?)^```/gms);
  return new Map([...named].map(([, code = "", name = ""]) => [name, code]));
}

/** A folder for the code of pages, below that of the project, where packages are found. */
export interface CodeFolder {
  path: string;
  write(page: string, name: string): Promise<string>;
  load<T>(page: string, name: string): Promise<T>;
  delete(): Promise<void>;
}

export async function codeFolder(): Promise<CodeFolder> {
  const folder = join(root, `.cache/pages-${process.pid}`);
  await mkdir(folder, { recursive: true });
  const write = async (page: string, name: string): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, codeOf(page, name));
    return file;
  };
  return {
    path: folder,
    write,
    load: async (page, name) => import(pathToFileURL(await write(page, name)).href),
    delete: () => rm(folder, { recursive: true, force: true }),
  };
}
