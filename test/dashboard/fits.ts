import type { Page } from "playwright-core";

/** Links and buttons of which a part is beside the screen, or in a box that hides it; code and tables may scroll. */
const cutOff = (page: Page): Promise<string[]> =>
  page.locator("main a:visible, main button:visible").evaluateAll(found =>
    found
      .filter(one => {
        // biome-ignore lint/suspicious/noExplicitAny: the DOM has no types here
        const element = one as any;
        const box = element.getBoundingClientRect();
        const holder = element.parentElement.getBoundingClientRect();
        const { innerWidth } = globalThis as unknown as { innerWidth: number };
        const isCut = box.right > innerWidth + 1 || box.left < -1 || box.right > holder.right + 8;
        return isCut && !element.closest("pre, .code, .scroll, .skip");
      })
      .map(one => (one as unknown as { textContent: string }).textContent.trim()),
  );

/** What does not fit the screen: the page itself, and what is cut off of its links and buttons. */
export async function misfits(page: Page): Promise<string[]> {
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { document } = globalThis as unknown as {
      document: { documentElement: { scrollWidth: number; clientWidth: number } };
    };
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scrollWidth, clientWidth };
  });
  const cut = (await cutOff(page)).map(text => `${text} is cut off`);
  return scrollWidth > clientWidth ? [...cut, `is ${scrollWidth} wide on ${clientWidth}`] : cut;
}
