import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import type { Context, Middleware } from "koa";
import { readText } from "../http/body.ts";
import { clientAddress, clientKey } from "../http/client-address.ts";
import { TEXT_PAGE_POLICY, textPage } from "../http/html-page.ts";
import { createGuessLimit } from "../http/rate-limit.ts";
import { isSameSecret } from "../lib/ids.ts";
import { LIMITS } from "../limits/catalogue.ts";
import type { Stores } from "../platform.ts";

/** Everything for the operator is below this path, and so is the cookie: endpoints of sources never receive it. */
export const ADMIN_PATH = "/admin";
export const BOARD_PATH = `${ADMIN_PATH}/queues`;
export const SIGN_IN_PATH = `${ADMIN_PATH}/sign-in`;
export const SIGN_OUT_PATH = `${ADMIN_PATH}/sign-out`;

const COOKIE = "headwater_board";
/** A form with a password. */
const MAX_FORM_BYTES = 4096;
/** `LIMITS.boardGuesses` wrong passwords in this time: enough for a mistyped one, far too few for a list of them. */
const GUESSES_S = 15 * 60;

const signInPage = (message: string) =>
  textPage(
    "Headwater: sign in",
    `<h1>Headwater</h1>${message && `<p role="alert">${message}</p>`}<form method="post" action="${SIGN_IN_PATH}">` +
      '<input type="hidden" name="username" value="admin" autocomplete="username">' +
      '<p><label for="password">ADMIN_PASSWORD</label><br>' +
      '<input id="password" name="password" type="password" autocomplete="current-password" required autofocus></p>' +
      "<p><button>Sign in</button></p></form>",
  );

const SIGN_OUT_PAGE = textPage(
  "Headwater: sign out",
  `<h1>Headwater</h1><form method="post" action="${SIGN_OUT_PATH}"><button>Sign out</button></form>` +
    `<p><a href="${BOARD_PATH}">Back to the queues</a></p>`,
);

/** The board's door: who is signed in, and the pages that sign in and out (docs/design.md#browsers). */
export class SignIn {
  readonly #platform: Stores;
  readonly #password: string;
  readonly #sessions: Sessions;
  readonly #limitGuesses;

  constructor(platform: Stores, password: string) {
    const { config, redis, keys } = platform;
    this.#platform = platform;
    this.#password = password;
    this.#sessions = new Sessions(config.secretsKeys, password, LIMITS.boardSessionMs.value);
    const keyPrefix = `${keys.rateLimit()}-board`;
    const points = LIMITS.boardGuesses.value;
    this.#limitGuesses = createGuessLimit(redis, {
      ...{ keyPrefix, points, durationS: GUESSES_S },
      what: "passwords from this address",
    });
  }

  /** Returns the session of a request; null without one. Throws `unavailable` if Redis is away. */
  async sessionOf(ctx: Context): Promise<Session | null> {
    const session = this.#sessions.verify(ctx.cookies.get(COOKIE) ?? "", this.#platform.clock());
    if (session === null) return null;
    const hasEnded = await this.#platform.redis.exists(this.#platform.keys.endedSession(session.id));
    return hasEnded ? null : session;
  }

  /** Serves the two pages; passes other requests on. */
  readonly pages: Middleware = async (ctx, next) => {
    const isPage = ctx.method === "GET" || ctx.method === "HEAD";
    if (ctx.path === SIGN_IN_PATH && isPage) return sendPage(ctx, 200, signInPage(""));
    if (ctx.path === SIGN_OUT_PATH && isPage) return sendPage(ctx, 200, SIGN_OUT_PAGE);
    if (ctx.path === SIGN_IN_PATH && ctx.method === "POST") return await this.#signIn(ctx);
    if (ctx.path === SIGN_OUT_PATH && ctx.method === "POST") return await this.#signOut(ctx);
    return next();
  };

  async #signIn(ctx: Context): Promise<void> {
    const form = new URLSearchParams((await readText(ctx.req, MAX_FORM_BYTES)).text);
    const isRight = isSameSecret(form.get("password") ?? "", this.#password);
    await this.#limitGuesses(clientKey(clientAddress(ctx)), isRight);
    if (!isRight) return sendPage(ctx, 401, signInPage("That is not ADMIN_PASSWORD."));
    const token = this.#sessions.start(this.#platform.clock());
    this.#setCookie(ctx, token, LIMITS.boardSessionMs.value / 1000);
    seeOther(ctx, BOARD_PATH);
  }

  async #signOut(ctx: Context): Promise<void> {
    const session = await this.sessionOf(ctx);
    if (session) {
      const leftMs = session.expiresAtMs - this.#platform.clock();
      await this.#platform.redis.set(
        this.#platform.keys.endedSession(session.id),
        "1",
        "PX",
        Math.max(1, leftMs),
      );
    }
    this.#setCookie(ctx, "", 0);
    seeOther(ctx, SIGN_IN_PATH);
  }

  /** By hand, because Koa sends no `Secure` cookie when a proxy in front ends TLS and is not trusted. */
  #setCookie(ctx: Context, value: string, maxAgeS: number): void {
    const isSecure = ctx.secure || this.#platform.config.publicUrl.startsWith("https:");
    const attributes = [`Path=${ADMIN_PATH}`, `Max-Age=${maxAgeS}`, "HttpOnly", "SameSite=Strict"];
    ctx.set("Set-Cookie", [`${COOKIE}=${value}`, ...attributes, ...(isSecure ? ["Secure"] : [])].join("; "));
  }
}

/** Redirects so that the next request is a GET, and a reload sends no form. */
export function seeOther(ctx: Context, path: string): void {
  ctx.redirect(path);
  ctx.status = 303;
}

function sendPage(ctx: Context, status: number, html: string): void {
  ctx.status = status;
  ctx.set({ "content-security-policy": TEXT_PAGE_POLICY, "cache-control": "no-store" });
  ctx.type = "text/html; charset=utf-8";
  ctx.body = html;
}

/** A session of the operator in the board. */
interface Session {
  id: string;
  expiresAtMs: number;
}

/**
 * Sessions that are stored nowhere: the token itself holds id and expiry, signed with a key derived from `SECRETS_KEY`.
 * Keys rotate as they do for secrets: the first signs, all verify. The password is derived in too, so a new one ends all
 * sessions.
 */
export class Sessions {
  readonly #keys: Buffer[];
  readonly #lifeMs: number;

  /** `lifeMs` is how long a session is valid; using it does not prolong it. */
  constructor(secretsKeys: readonly Buffer[], password: string, lifeMs: number) {
    const salt = createHash("sha256").update(password).digest();
    this.#keys = secretsKeys.map(key =>
      Buffer.from(hkdfSync("sha256", key, salt, "headwater board session", 32)),
    );
    this.#lifeMs = lifeMs;
  }

  /** Returns the token of a new session. */
  start(nowMs: number): string {
    const claim = `${randomBytes(16).toString("base64url")}.${(nowMs + this.#lifeMs).toString(36)}`;
    return `${claim}.${signatureOf(this.#keys[0] as Buffer, claim).toString("base64url")}`;
  }

  /** Returns the session of a token; null if we did not sign it or if it has expired. */
  verify(token: string, nowMs: number): Session | null {
    const [, claim = "", id = "", expiry = "", signature = ""] =
      /^(([\w-]{22})\.([0-9a-z]{1,11}))\.([\w-]{43})$/.exec(token) ?? [];
    if (!id) return null;
    const given = Buffer.from(signature, "base64url");
    if (!this.#keys.some(key => timingSafeEqual(signatureOf(key, claim), given))) return null;
    const expiresAtMs = Number.parseInt(expiry, 36);
    return expiresAtMs > nowMs ? { id, expiresAtMs } : null;
  }
}

const signatureOf = (key: Buffer, claim: string): Buffer => createHmac("sha256", key).update(claim).digest();
