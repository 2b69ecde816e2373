/** The style sheet of the page. */
declare module "*/index.css";
/** A style sheet that comes with code, as a text (script/lib/dashboard.mjs). */
declare module "*.css" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: the build makes it one
  export default text;
}
