import { expect } from "chai";
import { formattedBody, formattedHeaders } from "../../../src/deliveries/attempt/body-format.ts";

const config = { version: "1.2.3" };
const message = {
  id: "dlv_1",
  eventId: "1700000000123-7",
  emitterId: "dc_1",
  eventName: "order.created",
  body: '{"amount":1e21,"id":12345678901234567890,"a":1,"a":2,"note":"☃"}',
};
const attributes = {
  specversion: "1.0",
  id: "1700000000123-7",
  source: "urn:headwater:dc_1",
  type: "order.created",
  time: "2023-11-14T22:13:20.123Z",
};

describe("the format of a webhook's body", () => {
  it("is the event as it is, if nothing else is set", () => {
    for (const format of [undefined, "json"] as const) {
      expect(formattedBody(format, message)).to.equal(message.body);
      const headers = formattedHeaders(config, format, message);
      expect(headers["content-type"]).to.equal("application/json");
      expect(Object.keys(headers).filter(name => name.startsWith("ce-"))).to.deep.equal([]);
    }
  });

  it("has a structured CloudEvent, whose data is the event's own text", () => {
    const body = formattedBody("cloudevents", message);
    expect(body.endsWith(`,"data":${message.body}}`)).to.equal(true);
    const { data: _, ...others } = JSON.parse(body);
    expect(others).to.deep.equal({ ...attributes, datacontenttype: "application/json" });
    expect(formattedHeaders(config, "cloudevents", message)).to.deep.equal({
      ...formattedHeaders(config, "json", message),
      "content-type": "application/cloudevents+json; charset=utf-8",
    });
  });

  it("takes any JSON value as the data", () => {
    for (const value of [null, false, 0, "", "text", [], [null]]) {
      const body = formattedBody("cloudevents", { ...message, body: JSON.stringify(value) });
      expect(JSON.parse(body)).to.have.property("data").that.deep.equals(value);
    }
  });

  it("has the attributes in headers in the binary mode, and the event as the body", () => {
    expect(formattedBody("cloudevents-binary", message)).to.equal(message.body);
    expect(formattedHeaders(config, "cloudevents-binary", message)).to.deep.equal({
      ...formattedHeaders(config, "json", message),
      ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value])),
    });
  });

  it("percent-encodes what a header can't hold, so that a receiver decodes it to the same type", () => {
    for (const eventName of ["größe 100%", 'a"b', "\u{1f600}", "tab~!", "$errors"]) {
      const header =
        formattedHeaders(config, "cloudevents-binary", { ...message, eventName })["ce-type"] ?? "";
      expect(header, eventName).to.match(/^[!#-~]+$/);
      expect(decodeURIComponent(header)).to.equal(eventName);
    }
  });

  it("has no type that the specification forbids: none at all, a control character, half a character", () => {
    for (const [eventName, type] of [
      ["", "headwater.event"],
      ["a\r\nb\u0085", "a%0D%0Ab%C2%85"],
      ["half \ud83d", "half %EF%BF%BD"],
      ["\ufdd0", "%EF%B7%90"],
    ] as const) {
      expect(JSON.parse(formattedBody("cloudevents", { ...message, eventName })).type).to.equal(type);
    }
  });
});
