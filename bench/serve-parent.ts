/** The child's side of `child.ts`: handles each request of the parent, one after another, and exits with the parent. */
export function serveParent<Request>(handle: (request: Request) => unknown): void {
  process.on("message", async request => {
    try {
      process.send?.({ response: await handle(request as Request) });
    } catch (error) {
      process.send?.({ error: error instanceof Error ? error.stack : String(error) });
    }
  });
  process.on("disconnect", () => process.exit());
  process.send?.("ready");
}
