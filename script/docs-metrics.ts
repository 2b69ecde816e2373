import { writeFileSync } from "node:fs";
import { metricsDocument } from "../src/metrics/document.ts";

/** `npm run docs:metrics`: writes docs/metrics.md from the catalogue. */
writeFileSync(new URL("../docs/metrics.md", import.meta.url), metricsDocument());
