interface Fs {
  mkdirSync(path: string, options: { recursive: true }): void;
}

/** Where components find the files that their packages read; sources that share a process share it. */
export const PACKAGE_FILES = "/tmp/.headwater-packages";

let folder = "";

/** Returns the folder that the component sees as `/tmp`. */
export const sourceFolder = (): string => folder;

/** Sets the folder of a process that serves one source. */
export function useFolder(privateFolder: string): void {
  folder = privateFolder;
}

/**
 * Returns the function that gives each source of a shared process a folder of its own. Its functions are stored before a
 * component can replace them.
 */
export function openSourceFolders(privateFolder: string): (source: number) => void {
  // Not imported; see `redirect-tmp.ts`.
  const { mkdirSync } = process.getBuiltinModule("node:fs") as unknown as Fs;
  const chdir = process.chdir.bind(process);
  return source => {
    const own = `${privateFolder}/${source}`;
    if (own === folder) return;
    mkdirSync(own, { recursive: true });
    chdir(own);
    folder = own;
  };
}
