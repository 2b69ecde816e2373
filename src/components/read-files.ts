import { posix } from "node:path";

/** Files of a component: their texts by path, and the path of the one that is imported first. */
export interface GivenFiles {
  files: Record<string, string>;
  entry: string;
}

/** The own files of a component as a loader reads them. The entry is read first. */
export class ReadFiles {
  readonly #texts = new Map<string, string>();
  /** What the files of a folder ask for, by the name of the package. */
  readonly #ranges = new Map<string, Record<string, string>>();
  #isMoved = false;

  /** Notes a file that was found at `path`, where `isMoved` if another path was asked for. */
  add(path: string, text: string, isMoved: boolean): void {
    // What imports it would not find it, or find another text.
    this.#isMoved ||= (isMoved && this.#texts.size > 0) || (this.#texts.get(path) ?? text) !== text;
    this.#texts.set(path, text);
  }

  /** Notes the versions of a package that the file at `path` asks for. */
  ask(path: string, packageName: string, range: string): void {
    const folder = posix.dirname(path);
    this.#ranges.set(folder, { ...this.#ranges.get(folder), [packageName]: range });
  }

  /**
   * Returns the files as a request gives them, below the folder that they share. Of each package.json they have what the files
   * ask for and nothing else, in the folder of each: the same versions are found as here. Null if the entry is all, or if files
   * by their paths would not be the same component.
   */
  given(): GivenFiles | null {
    const [entry = ""] = this.#texts.keys();
    if (this.#isMoved || (this.#texts.size < 2 && this.#ranges.size === 0)) return null;
    const folder = sharedFolder([...this.#texts.keys()]);
    const at = (path: string) => path.slice(folder.length);
    const files = Object.fromEntries([...this.#texts].map(([path, text]) => [at(path), text]));
    if (this.#ranges.size > 0) {
      for (const path of this.#texts.keys()) {
        const manifest = at(posix.join(posix.dirname(path), "package.json"));
        // One that the code imports as a file is sent as it is.
        files[manifest] ??= JSON.stringify({ dependencies: this.#ranges.get(posix.dirname(path)) ?? {} });
      }
    }
    return { files, entry: at(entry) };
  }
}

/** Returns the folder that all these paths are in, with a slash at its end unless it is empty. */
function sharedFolder(paths: string[]): string {
  const [first = [], ...others] = paths.map(path => path.split("/").slice(0, -1));
  const differs = first.findIndex((part, i) => others.some(other => other[i] !== part));
  return (differs === -1 ? first : first.slice(0, differs)).map(part => `${part}/`).join("");
}
