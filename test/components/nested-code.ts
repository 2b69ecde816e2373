import { tmpdir } from "node:os";
import { bundleComponent } from "../../src/components/bundle.ts";
import { fromCode } from "../../src/components/load-modules.ts";
import { rejection } from "./rejection.ts";

// Run as a separate process by bundle.test.ts, because the crashing esbuild writes its stack to stderr.
const bundle = (code: string) => bundleComponent(fromCode(code), { cacheDir: tmpdir() });
const nested = `export default ${"[".repeat(900_000)}`;
const [deep, ...others] = await Promise.allSettled([
  rejection(bundle(nested)),
  ...Array.from({ length: 8 }, (_, index) => bundle(`export default { name: "other ${index}" };`)),
]);
const again = await rejection(bundle(nested));
const { modules } = await bundle("export default {};");
console.log(
  JSON.stringify({
    deep: deep?.status,
    others: others.map(other => other.status),
    again: again.message,
    modules,
  }),
);
