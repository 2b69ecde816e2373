import { clientFor, explain } from "../remote/remote-command.ts";
import { placeComponents } from "./components.ts";
import { writeDeclaration } from "./declaration-file.ts";
import { declareAccount, type Imported } from "./declare.ts";
import { ServerReader } from "./read-server.ts";
import { reportOf } from "./report.ts";
import { Staging } from "./staging.ts";

/** What `headwater apply` reads. */
export const FILE = "headwater.yaml";
/** What a person reads. */
export const REPORT = "import-report.txt";

export interface Importing {
  /** The other server, and a key for it. */
  url: string;
  apiKey: string;
  /** The organization whose things are meant; without one, the user's own. */
  orgId?: string | undefined;
  /** Only what has this text in its name, address or id. */
  search?: string | undefined;
  /** Where the files are written. */
  folder: string;
  project: string;
  /** Whether files that are there are replaced. */
  force: boolean;
}

/**
 * Writes what an account of another server has as files for `apply`, and returns it with their paths; all of them, or none. Throws
 * AppErrors of one line.
 */
export async function importAccount(given: Importing): Promise<Imported & { files: readonly string[] }> {
  const { url, apiKey, orgId, search, folder, project, force } = given;
  const account = await new ServerReader(clientFor({ url, apiKey }), orgId).read(search).catch(error => {
    throw explain(error, url);
  });
  const staging = await Staging.open(folder);
  try {
    const placed = await placeComponents(account.components, staging);
    const imported = declareAccount(account, placed, project);
    for (const [path, text] of imported.functions) await staging.write(path, text);
    await writeDeclaration(imported.declaration, { staging, file: FILE, url });
    await staging.write(REPORT, reportOf(imported, { url, file: FILE }));
    return { ...imported, files: await staging.finish({ force }) };
  } finally {
    await staging.close();
  }
}
