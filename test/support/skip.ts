import { packagedProgram } from "../../script/lib/packaged-program.mjs";
import { root } from "./built.ts";

/**
 * Skips a test, or from a `before` hook the tests of its suite, and says why: a skip without a word looks like a pass.
 * `.ci/run` lists these lines at its end.
 */
export function skipBecause(context: Mocha.Context, reason: string): never {
  const { test } = context;
  const isHook = test !== undefined && "type" in test && test.type === "hook";
  const what = isHook ? test.parent?.fullTitle() : test?.fullTitle();
  process.stdout.write(`  skipped: ${what ?? "a test"}: ${reason}\n`);
  return context.skip();
}

type Given = Omit<Parameters<typeof packagedProgram>[1], "root">;

/**
 * Returns the path of a program, which CI installs as this package of Debian. Skips the test where there is none, and where
 * it can't be installed: that says nothing of what is tested.
 */
export async function programOrSkip(
  context: Mocha.Context,
  debianPackage: string,
  given: Given = {},
): Promise<string> {
  const found = await packagedProgram(debianPackage, { root, ...given }).catch((error: Error) => error);
  if (typeof found === "string") return found;
  return skipBecause(
    context,
    found?.message ?? `it needs Debian's package ${debianPackage}, or the same from elsewhere`,
  );
}
