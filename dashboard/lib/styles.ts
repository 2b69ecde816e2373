/** Adds a style sheet that came with code, after those of the page. A `<style>` is forbidden by the page's policy. */
export function addStyles(text: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets.push(sheet);
}
