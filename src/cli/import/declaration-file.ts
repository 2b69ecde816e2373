import { join } from "node:path";
import { stringify } from "yaml";
import { AppError } from "../../lib/errors.ts";
import { readDeclaration } from "../apply/read-file.ts";
import type { Declaration } from "../apply/schema.ts";
import type { Staging } from "./staging.ts";

interface Place {
  staging: Staging;
  /** Its path below the folder. */
  file: string;
  /** The other server. */
  url: string;
}

/** Writes the file of `apply`. Throws AppError `invalid` for one that `apply` could not read, as one that is too large. */
export async function writeDeclaration(
  declaration: Declaration,
  { staging, file, url }: Place,
): Promise<void> {
  const head = `# Imported from ${new URL(url).href}: see docs/cli.md for what a file may have.\n`;
  const text = stringify(declaration, { lineWidth: 0, aliasDuplicateObjects: false });
  await staging.write(file, head + text);
  const path = join(staging.folder, file);
  // Values of the environment are not needed to read it.
  await readDeclaration(path, () => "1").catch((error: Error) => {
    const message = error.message.replaceAll(path, file);
    throw new AppError("invalid", `${message}; --search imports a part of it`, { cause: error });
  });
}
