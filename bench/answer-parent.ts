/** The child's side of `child.ts`: answers each request of the parent, one after the other, and ends with it. */
export function answerParent<Request>(handle: (request: Request) => unknown): void {
  process.on("message", async request => {
    try {
      process.send?.({ answer: await handle(request as Request) });
    } catch (error) {
      process.send?.({ error: error instanceof Error ? error.stack : String(error) });
    }
  });
  process.on("disconnect", () => process.exit());
  process.send?.("ready");
}
