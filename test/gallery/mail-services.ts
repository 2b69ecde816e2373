import type { Received } from "../support/receiver.ts";
import { json, startVendor, type Vendor } from "./vendors.ts";

/** A mail as a service was given it: the path, what says who sends, and the content. */
interface Given {
  path: string;
  content: Record<string, unknown>;
  idempotencyKey?: unknown;
}

/** The four APIs as their references have them; each knows the sender orders@example.com, and the key `k3y`. */
export function startMailServices(): Promise<Vendor<Given>> {
  const given: Given[] = [];
  const responses = new Map<unknown, number>();
  const keep = (content: Record<string, unknown>, { path, headers }: Received) => {
    const idempotencyKey = headers["idempotency-key"];
    given.push({ path, content, ...(idempotencyKey !== undefined && { idempotencyKey }) });
    return given.length;
  };
  return startVendor(given, request => {
    const { path, headers, raw } = request;
    const read = () => JSON.parse(raw);
    const isKnown = (from: string) => from.includes("orders@example.com");
    if (path === "/emails") {
      if (headers.authorization !== "Bearer k3y")
        return json(401, { statusCode: 401, message: "API key is invalid", name: "validation_error" });
      const mail = read();
      if (!isKnown(mail.from))
        return json(403, {
          statusCode: 403,
          message: "The example.net domain is not verified",
          name: "invalid_from_address",
        });
      const key = headers["idempotency-key"];
      const id = responses.get(key) ?? keep(mail, request);
      responses.set(key, id);
      return json(200, { id: `re_${id}` });
    }
    if (path === "/email") {
      if (headers["x-postmark-server-token"] !== "k3y")
        return json(401, { ErrorCode: 10, Message: "Request does not contain a valid Server token." });
      const mail = read();
      if (!isKnown(mail.From))
        return json(422, {
          ErrorCode: 400,
          Message: "The 'From' address you supplied is not a Sender Signature",
        });
      return json(200, { ErrorCode: 0, Message: "OK", MessageID: `pm_${keep(mail, request)}` });
    }
    if (path === "/v3/mail/send") {
      if (headers.authorization !== "Bearer k3y")
        return json(401, {
          errors: [{ message: "The provided authorization grant is invalid", field: null }],
        });
      const mail = read();
      if (!isKnown(mail.from.email))
        return json(403, {
          errors: [{ message: "The from address does not match a verified Sender Identity", field: "from" }],
        });
      return { status: 202, headers: { "x-message-id": `sg_${keep(mail, request)}` } };
    }
    if (path === "/v3/example.com/messages") {
      if (headers.authorization !== `Basic ${Buffer.from("api:k3y").toString("base64")}`)
        return { status: 401, body: "Forbidden" };
      const fields = new URLSearchParams(raw);
      if (!isKnown(fields.get("from") ?? ""))
        return json(400, { message: "from parameter is not a valid address" });
      const names = [...new Set(fields.keys())];
      const id = keep(Object.fromEntries(names.map(name => [name, fields.getAll(name)])), request);
      return json(200, { id: `<mg_${id}>`, message: "Queued. Thank you." });
    }
    return json(404, { message: "Domain not found" });
  });
}
