import type { ConsentFailed, ConsentProblem } from "../connections/consent/consent-failed.ts";
import type { ConsentRequest } from "../connections/consent/ticket.ts";
import type { App } from "../models/app.ts";

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** Returns a text as HTML shows it. */
const html = (text: string): string => text.replace(/[&<>"']/g, character => ENTITIES[character] ?? "");

interface Names {
  /** The account that gets the connection, as people know it. */
  account: string;
  /** Who asked for it. */
  asker: string;
}

/** The page before a person goes to an app: whose connection it will be, and what it may do. */
export function consentText(
  app: App,
  { isReconnect, name }: ConsentRequest,
  { account, asker }: Names,
  path: string,
): string {
  const scopes = app.scopes.split(" ").filter(Boolean);
  const list = scopes.map(scope => `<li><code>${html(scope)}</code></li>`).join("");
  const appName = html(app.name);
  return (
    `<h1>${isReconnect ? "Reconnect" : "Connect"} ${appName}</h1>` +
    `<p><b>${html(asker)}</b> asks for access to your account at <b>${appName}</b>, as the connection ` +
    `<b>${html(name)}</b> of the Headwater account <b>${html(account)}</b>. Everybody who deploys sources there can use it.</p>` +
    (list && `<p>It asks ${appName} for:</p><ul>${list}</ul>`) +
    "<p>If you did not expect this, close the page.</p>" +
    `<form method="post" action="${html(path)}"><p><button>Continue to ${appName}</button></p></form>`
  );
}

/** The page after it. */
export const connectedText = (
  { isReconnect, name, connectionId }: ConsentRequest,
  dashboard: string,
): string =>
  `<h1>${isReconnect ? "Reconnected" : "Connected"}</h1><p>The connection <b>${html(name)}</b> ` +
  `(<code>${html(connectionId)}</code>) works. You can close this page.</p>` +
  `<p><a href="${dashboard}">To the dashboard</a></p>`;

const SENTENCES: Record<ConsentProblem, string> = {
  cancelled: "You did not agree, so nothing was connected.",
  "provider-away": "The app can't be reached right now, or does not respond as it should. Try again later.",
  "provider-error":
    "The app rejected the request. The operator of this server should check how the app is registered.",
  "not-proven": "What the app sent back is not valid, or no longer. Begin again.",
  expired: "This link was used before, or is too old. Begin again where you asked for the connection.",
  "other-browser": "This was begun in another browser. Begin again, and stay in one browser.",
  "no-access": "The person who asked for this connection may no longer use the account.",
  "no-app": "The operator of this server has removed the app.",
  gone: "The connection has been deleted.",
  "limit-reached": "The account has as many connections as its plan allows.",
  busy: "Too many people are connecting right now. Begin again in a minute.",
};

/** The page of a consent that led to no connection. */
export function failedText({ problem, code }: Pick<ConsentFailed, "problem" | "code">): string {
  const codeText = code === undefined ? "" : `<p>The app's error code is <code>${html(code)}</code>.</p>`;
  return problemText(SENTENCES[problem]) + codeText;
}

/** The page of a request that can't be served. */
export const problemText = (sentence: string): string =>
  `<h1>Not connected</h1><p role="alert">${html(sentence)}</p>`;
