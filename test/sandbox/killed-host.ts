/**
 * A host with a component in an endless loop, for a test that kills the host. Prints the child's pid when the loop
 * runs.
 */
import { openTestSandboxes, RUN, running } from "./sandbox-fixture.ts";

const sandboxes = await openTestSandboxes();
const loop = running(
  "this.http.respond({ body: String(process.pid) }); for (;;);",
  `props: { http: "$.interface.http" },`,
);
await sandboxes.call("a", loop, RUN, {
  wallMs: 60_000,
  onRespond: response => void process.stdout.write(Buffer.from(response.bodyBase64, "base64")),
});
