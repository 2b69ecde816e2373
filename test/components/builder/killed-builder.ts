/** A process that is killed in the middle of saving a component: it prints the folder of the build once it is there. */
import { tmpdir } from "node:os";
import { withBuilt } from "../../../src/components/builder/with-built.ts";
import { fromCode } from "../../../src/components/load-modules.ts";

await withBuilt(
  fromCode("export default { name: 'Built', version: '1', run() {} };"),
  { cacheDir: tmpdir(), account: "u_1" },
  async ({ path }) => {
    process.stdout.write(path);
    await new Promise(() => setInterval(() => {}, 1000));
  },
);
