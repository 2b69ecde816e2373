import { writeFileSync } from "node:fs";
import { limitsDocument } from "../src/limits/document.ts";

/** `npm run docs:limits`: writes docs/limits.md from the catalogue. */
writeFileSync(new URL("../docs/limits.md", import.meta.url), limitsDocument());
