import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** Below this compression saves no packet. */
const SMALLEST_COMPRESSED = 1000;

/**
 * Writes a file's `.gz` and `.br` beside it. Once, at the build: the best compression takes longer than a request may. `quality` is that of
 * Brotli, of which 11 is the slowest.
 */
export function compress(file, quality = 10) {
  const content = readFileSync(file);
  if (content.length < SMALLEST_COMPRESSED) return;
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
}
