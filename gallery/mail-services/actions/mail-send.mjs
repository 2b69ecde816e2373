import { ResponseError, send } from "../../lib/http.mjs";
import { waitAsAsked } from "../../lib/wait-as-asked.mjs";
import { SERVICES } from "../services.mjs";

export default {
  key: "headwater-mail-send",
  name: "Send a mail",
  version: "1.0.0",
  type: "action",
  description: "Sends a mail by Resend, Postmark, SendGrid or Mailgun for each event.",
  props: {
    db: "$.service.db",
    service: {
      type: "string",
      label: "Service",
      description: "Resend sends a mail once, even if an attempt is repeated; the others send it again.",
      options: Object.entries(SERVICES).map(([value, { label }]) => ({ label, value })),
    },
    apiKey: {
      type: "string",
      label: "API key",
      description: "Of Postmark, the server's API token.",
      secret: true,
    },
    from: {
      type: "string",
      label: "From",
      description: "A sender that the service knows, such as Shop <orders@example.com>.",
    },
    to: { type: "string[]", label: "To", description: "Such as {{event.customer.email}}." },
    cc: { type: "string[]", label: "Copies to", optional: true },
    bcc: { type: "string[]", label: "Blind copies to", optional: true },
    replyTo: { type: "string", label: "Responses to", optional: true },
    subject: { type: "string", label: "Subject", description: "Such as: Order {{event.id}}." },
    text: { type: "string", label: "Text", optional: true },
    html: {
      type: "string",
      label: "HTML",
      description: "Values of the event become part of it as they are: leave out those that strangers write.",
      optional: true,
    },
    domain: {
      type: "string",
      label: "Domain",
      description: "Mailgun only: the one from which it sends.",
      optional: true,
    },
    region: {
      type: "string",
      label: "Region",
      description: "SendGrid and Mailgun only.",
      options: [
        { label: "United States", value: "us" },
        { label: "European Union", value: "eu" },
      ],
      default: "us",
    },
    stream: {
      type: "string",
      label: "Message stream",
      description: "Postmark only. Empty: the one for transactional mail.",
      optional: true,
    },
    api: { type: "string", label: "Address of the service's API", hidden: true, optional: true },
  },
  methods: {
    mail() {
      if (!this.text && !this.html) throw new Error("give a text, HTML, or both");
      const { from, replyTo, text, html } = this;
      const given = {
        ...{ from, to: this.to, cc: this.cc, bcc: this.bcc, replyTo, text, html },
        // A line break would begin another header.
        subject: this.subject.replace(/\s+/g, " ").trim(),
      };
      return Object.fromEntries(Object.entries(given).filter(([, value]) => value?.length));
    },
    async post(id) {
      const { label, base, request, read } = SERVICES[this.service];
      const { path, headers, json, form } = request(this, this.mail(), id);
      const response = await send(`${this.api || base(this)}${path}`, {
        method: "POST",
        headers: { ...headers, ...(json && { "content-type": "application/json" }) },
        body: json ? JSON.stringify(json) : fieldsOf(form),
        isAnyStatus: true,
      });
      const body = parsed(response.text);
      // Postmark writes it with a capital.
      const text = body.Message ?? response.text;
      if (response.status >= 300) throw new ResponseError(response.url, { ...response, text });
      return { label, id: read({ ...response, body }) };
    },
  },
  async run({ $ }) {
    const { label, id } = await waitAsAsked(this.db, () => this.post($.context.id));
    $.export("$summary", `${label} has it`);
    return { id };
  },
};

/** Values that are lists are several fields. */
function fieldsOf(form) {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) {
    for (const one of value === undefined ? [] : [value].flat()) fields.append(name, one);
  }
  return fields;
}

function parsed(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
