import { packagedProgram } from "./packaged-program.mjs";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** The path of a Chromium for tests, as `packagedProgram` finds it. */
export const chromiumProgram = options => packagedProgram("chromium", { names: NAMES, ...options });
