import { buildPrevious, hasPrevious } from "./releases.ts";

// Before the tests (`npm run test:upgrade`), because they reach no registry.
if (hasPrevious()) {
  console.log(`The release before is in ${buildPrevious()}`);
} else {
  console.error("this clone lacks the release before: run git fetch --unshallow");
  process.exitCode = 1;
}
