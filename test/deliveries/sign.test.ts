import { createHmac } from "node:crypto";
import { expect } from "chai";
import { signatureHeaders } from "../../src/deliveries/sign.ts";

const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1614265330, body: '{"test": 2432232314}' };
const key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

describe("signing", () => {
  it("gives the signature of Standard Webhooks' published example", () => {
    const headers = signatureHeaders(message, [key]);
    expect(headers["webhook-id"]).to.equal(message.id);
    expect(headers["webhook-timestamp"]).to.equal("1614265330");
    expect(headers["webhook-signature"]).to.equal("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });

  it("keys x-pd-signature with the text of the key as it was given", () => {
    const expected = createHmac("sha256", key).update(`1614265330.${message.body}`).digest("hex");
    expect(signatureHeaders(message, [key])["x-pd-signature"]).to.equal(`t=1614265330,v1=${expected}`);
  });

  it("signs with every key, the newest first", () => {
    const old = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    const both = signatureHeaders(message, [key, old]);
    const one = (name: string, signingKey: string) => signatureHeaders(message, [signingKey])[name] ?? "";
    expect(both["webhook-signature"]).to.equal(
      `${one("webhook-signature", key)} ${one("webhook-signature", old)}`,
    );
    const oldPlain = one("x-pd-signature", old).split(",")[1];
    expect(both["x-pd-signature"]).to.equal(`${one("x-pd-signature", key)},${oldPlain}`);
  });
});
