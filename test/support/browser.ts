import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { chromiumProgram } from "../../script/lib/chromium.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Starts a real Chromium in which these host names are this machine (with a port: that port of it, whatever the address
 * says), or returns the reason why a test that needs it must be skipped.
 */
export async function openBrowser(hosts: string[], port?: number): Promise<Browser | { missing: string }> {
  let executablePath: string | undefined;
  try {
    executablePath = await chromiumProgram({ root });
  } catch (error) {
    return { missing: (error as Error).message };
  }
  if (!executablePath)
    return { missing: "there is no chromium on the PATH (Debian: apt-get install chromium)" };
  const rules = hosts.map(host => `MAP ${host} 127.0.0.1${port ? `:${port}` : ""}`).join(", ");
  return await chromium.launch({
    executablePath,
    // Its own sandbox can't be used by root.
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", `--host-resolver-rules=${rules}`],
  });
}
