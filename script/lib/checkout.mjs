import { buildIfStale } from "./build.mjs";
import { installDependencies } from "./dependencies.mjs";

/** Makes a checkout ready to run. An installed package is, and has none of what this needs. Throws UserError. */
export async function prepareCheckout({ root, isWatching, say, signal }) {
  await installDependencies({ root, say, signal });
  if (!isWatching) await buildIfStale({ root, say, signal });
}
