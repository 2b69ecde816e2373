import { ResponseError, send } from "../../lib/http.mjs";

export default {
  key: "headwater-http-request",
  name: "HTTP request",
  version: "1.0.0",
  type: "action",
  description: "Sends an HTTP request for each event, with values of the event in address, headers and body.",
  props: {
    url: {
      type: "string",
      label: "Address",
      description: "Such as https://api.example.com/orders/{{event.id}}.",
    },
    method: {
      type: "string",
      label: "Method",
      options: ["POST", "PUT", "PATCH", "GET", "DELETE"],
      default: "POST",
    },
    authorization: {
      type: "string",
      label: "Authorization",
      description: "Value of the header of that name, such as Bearer TOKEN.",
      secret: true,
      optional: true,
    },
    headers: { type: "object", label: "Further headers", optional: true },
    body: {
      type: "any",
      label: "Body",
      description:
        "A text is sent as it is, anything else as JSON; {{event}} is the whole event. GET has none.",
      optional: true,
    },
    expected: {
      type: "integer[]",
      label: "Statuses that are a success",
      description: "Empty: 200 to 299. Any other status is a failed attempt, which is made again.",
      optional: true,
    },
  },
  methods: {
    request(id) {
      const isText = typeof this.body === "string";
      const hasBody = this.method !== "GET" && this.body !== undefined && this.body !== null;
      const headers = new Headers({
        // A repeated attempt has the same, by which a receiver that knows it does the work once.
        "idempotency-key": id,
        ...(hasBody && { "content-type": isText ? "text/plain; charset=utf-8" : "application/json" }),
      });
      for (const [name, value] of Object.entries(this.headers ?? {})) headers.set(name, String(value));
      if (this.authorization) headers.set("authorization", this.authorization);
      return {
        method: this.method,
        headers,
        ...(hasBody && { body: isText ? this.body : JSON.stringify(this.body) }),
      };
    },
    isExpected(status) {
      return this.expected?.length ? this.expected.includes(status) : status >= 200 && status < 300;
    },
  },
  async run({ $ }) {
    const response = await send(this.url, { ...this.request($.context.id), isAnyStatus: true });
    const { status, text } = response;
    if (!this.isExpected(status)) throw new ResponseError(this.url, response);
    $.export("$summary", `${this.method} ${new URL(this.url).host}: ${status}`);
    return { status, body: parsed(text) };
  },
};

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
