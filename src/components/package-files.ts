import { readFile, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import { LIMITS } from "../limits/catalogue.ts";
import { PACKAGE_FILES } from "../sandbox/child/source-folder.ts";
import { FILES_OF, PLACE_OF } from "./computed-imports.ts";
import { filesOfPackage } from "./package-cache.ts";

const OWN_PLACE = /(?<![\w$.])(?:__dirname|__filename|import\.meta\.(?:url|dirname|filename))(?![\w$])/;
const READS = /\b(?:readFile|readdir|createReadStream|opendir|openSync|openAsBlob)(?:Sync)?\b/;
/** Code is in the bundle already; maps, types and documents are rarely read. They are taken only if the code names them. */
const RARELY_READ = /\.(?:[cm]?[jt]sx?|map|md|markdown)$|^(?:licen[cs]e|changelog|history|authors|readme)\b/i;
const NEVER_READ = /\.node$/;

/**
 * Returns what means the place of a file in its code, for the bundler's `define`: there, `PackageFiles` puts what is beside
 * the file. Returns undefined for code that has no use for it.
 *
 * @param code without comments
 * @param inside path of the file in the folder of the packages
 */
export function ownPlace(code: string, inside: string): Record<string, string> | undefined {
  if (!OWN_PLACE.test(code)) return undefined;
  const file = placeOf(inside);
  const [name, folder, url] = [file, posix.dirname(file), `file://${encodeURI(file)}`].map(text =>
    JSON.stringify(text),
  ) as [string, string, string];
  return {
    __dirname: folder,
    __filename: name,
    "import.meta.url": url,
    "import.meta.dirname": folder,
    "import.meta.filename": name,
  };
}

/** Returns where a file is when the component runs, if it is there. */
export const placeOf = (inside: string): string => posix.join(PACKAGE_FILES, inside);

interface PackageUse {
  /** Code of its files that know their place. */
  placed: string[];
  /** True if one of its files calls a function that reads files. */
  reads: boolean;
}

/**
 * The files beside code that a component's packages may read when they run. A package that reads files and knows its place has
 * all of its data with it; any other one that knows its place has the files that it names, which another package may read.
 */
export class PackageFiles {
  readonly #packages = new Map<string, PackageUse>();
  #hasComputed = false;

  /** True if a file imports others by a computed name. */
  get hasComputed(): boolean {
    return this.#hasComputed;
  }

  /** Notes a file of a package that is part of the bundle: its path in the folder of the packages, and its code. */
  note(inside: string, code: string): void {
    this.#hasComputed ||= code.includes(FILES_OF);
    const isPlaced = code.includes(`${PACKAGE_FILES}/`) || code.includes(`require("${PLACE_OF}`);
    const reads = READS.test(code);
    if (!isPlaced && !reads) return;
    const root = packageRoot(inside);
    const use = this.#packages.get(root) ?? { placed: [], reads: false };
    this.#packages.set(root, use);
    use.reads ||= reads;
    if (isPlaced) use.placed.push(code);
  }

  /**
   * Returns a statement that writes the files where the code looks for them, as far as the bounds permit (docs/limits.md): first
   * those that the code names; an empty text if there are none.
   *
   * @param folder real path of the folder of the packages
   */
  async statement(folder: string): Promise<string> {
    const files: Record<string, string> = {};
    let [bytes, count] = [0, 0];
    for (const inside of await this.#list(folder)) {
      const path = join(folder, inside);
      const { size } = await stat(path);
      if (bytes + size > LIMITS.packageDataBytes.value) continue;
      if (count >= LIMITS.packageDataFiles.value) break;
      bytes += size;
      count += 1;
      files[inside] = await readFile(path, "base64");
    }
    return count === 0 ? "" : writing(files);
  }

  async #list(folder: string): Promise<string[]> {
    const [first, others]: [string[], string[]] = [[], []];
    for (const [root, { placed, reads }] of this.#packages) {
      if (placed.length === 0) continue;
      for (const path of await filesOfPackage(folder, root)) {
        const name = posix.basename(path);
        if (NEVER_READ.test(name)) continue;
        if (path === `${root}/package.json` || placed.some(code => namesFile(code, name))) first.push(path);
        else if (reads && !RARELY_READ.test(name)) others.push(path);
      }
    }
    return [...first.sort(), ...others.sort()];
  }
}

/** Returns true if a text in the code is the name, or ends with it. */
const namesFile = (code: string, name: string): boolean =>
  ['"', "'", "`"].some(quote => ["/", quote].some(before => code.includes(before + name + quote)));

/** Nothing of it has a name that could conflict with one in the code. In a shared process the first source writes for all. */
const writing = (files: Record<string, string>): string =>
  `{
const{existsSync,mkdirSync,writeFileSync}=globalThis.process.getBuiltinModule("node:fs"),into=${JSON.stringify(PACKAGE_FILES)};
if(!existsSync(into))for(const[name,data]of Object.entries(${JSON.stringify(files)})){
const path=into+"/"+name;
mkdirSync(path.slice(0,path.lastIndexOf("/")),{recursive:true});
writeFileSync(path,globalThis.Buffer.from(data,"base64"));
}}`.replaceAll("\n", "");

/** Returns the folder of the package that a file belongs to. */
export const packageRoot = (inside: string): string =>
  /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(inside)?.[0] ?? "";
