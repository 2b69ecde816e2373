import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { headwater } from "../command.ts";

/** Applies files of a folder of its own; no secret may be printed. */
export async function openApplier(env: () => Record<string, string>, secret: string) {
  const folder = await mkdtemp(join(tmpdir(), "headwater-apply-"));
  /** Runs the command on a file with this text. */
  async function apply(text: string, ...args: string[]) {
    const file = join(folder, "headwater.yaml");
    await writeFile(file, text);
    const result = await headwater(["apply", "-f", file, ...args], env());
    expect(result.stdout + result.stderr).not.to.include(secret);
    return result;
  }
  return {
    apply,
    /** Returns what it printed; it must succeed. */
    async applied(text: string, ...args: string[]): Promise<string> {
      const { code, stdout, stderr } = await apply(text, ...args);
      expect(code, stderr).to.equal(0);
      return stdout;
    },
    /** Returns the fields that a plan changes, by the name of the thing. */
    async planned(text: string, ...args: string[]) {
      const result = await apply(text, "--plan", "--json", ...args);
      expect(result.code, result.stderr).to.equal(0);
      const { changes } = JSON.parse(result.stdout) as {
        changes: { name: string; fields: { field: string; from?: unknown; to: unknown }[] }[];
      };
      return Object.fromEntries(changes.map(({ name, fields }) => [name, fields]));
    },
    save: (name: string, text: string) => writeFile(join(folder, name), text),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

export type Applier = Awaited<ReturnType<typeof openApplier>>;
