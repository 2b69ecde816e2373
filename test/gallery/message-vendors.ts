import { json, startVendor, type Vendor } from "./vendors.ts";

type Sent = Record<string, unknown>;

/** `sendMessage` of core.telegram.org/bots/api, where a bot was told to wait once it has sent `most` messages. */
export function startTelegramChat(token: string, most = 10): Promise<Vendor<Sent>> {
  const sent: Sent[] = [];
  const failed = (error_code: number, description: string, more = {}) =>
    json(error_code, { ok: false, error_code, description, ...more });
  return startVendor(sent, ({ path, raw }) => {
    if (path !== `/bot${token}/sendMessage`) return failed(401, "Unauthorized");
    if (sent.length >= most)
      return failed(429, "Too Many Requests: retry after 7", { parameters: { retry_after: 7 } });
    const message = JSON.parse(raw);
    if (message.chat_id !== "-1001") return failed(400, "Bad Request: chat not found");
    if (message.text.length > 4096) return failed(400, "Bad Request: message is too long");
    sent.push(message);
    const chat = { id: -1001, title: "Orders", type: "supergroup" };
    return json(200, { ok: true, result: { message_id: sent.length, chat, text: message.text } });
  });
}

/** `Execute Webhook` of discord.com/developers/docs/resources/webhook. */
export function startDiscord(): Promise<Vendor<Sent>> {
  const sent: Sent[] = [];
  return startVendor(sent, ({ path, raw }) => {
    const { pathname, searchParams } = new URL(path, "http://x");
    if (pathname !== "/api/webhooks/1/t0ken") return json(404, { message: "Unknown Webhook", code: 10_015 });
    const message = JSON.parse(raw);
    if (!message.content) return json(400, { message: "Cannot send an empty message", code: 50_006 });
    if (message.content.length > 2000) return json(400, { message: "Invalid Form Body", code: 50_035 });
    if (message.content === "fast") {
      const limited = { message: "You are being rate limited.", retry_after: 1.5, global: false };
      const headers = { "content-type": "application/json", "retry-after": "2" };
      return { status: 429, headers, body: JSON.stringify(limited) };
    }
    sent.push(message);
    return searchParams.get("wait") === "true" ? json(200, { id: "77", ...message }) : json(204);
  });
}

/** An incoming webhook of developers.mattermost.com/integrate/webhooks/incoming. */
export function startMattermost(): Promise<Vendor<Sent>> {
  const sent: Sent[] = [];
  return startVendor(sent, ({ path, raw }) => {
    if (path !== "/hooks/t0ken")
      return json(400, {
        id: "web.incoming_webhook.invalid.app_error",
        message: "Invalid webhook",
        status_code: 400,
      });
    sent.push(JSON.parse(raw));
    return { status: 200, body: "ok" };
  });
}

/** A workflow of Teams that begins with `When a Teams webhook request is received`. */
export function startTeams(): Promise<Vendor<Sent>> {
  const sent: Sent[] = [];
  return startVendor(sent, ({ raw }) => {
    if (Buffer.byteLength(raw) > 28 * 1024)
      return json(413, { error: { code: "RequestEntityTooLarge", message: "Request Entity Too Large" } });
    sent.push(JSON.parse(raw));
    return json(202);
  });
}
