import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { expect } from "chai";
import { LIMITS } from "../../src/limits/catalogue.ts";
import { RequestValues } from "../../src/verify/request-values.ts";
import { openVerification } from "../../src/verify/settings.ts";
import { soughtKey } from "../../src/verify/sought-key.ts";
import { type Verdict, verifyRequest } from "../../src/verify/verify-request.ts";
import { type Sent, SIGNERS, SNS_CERTIFICATE_URL, SNS_TOPIC, snsMessage } from "./signers.ts";
import { SNS_TEST } from "./sns-certificate.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const NOTIFICATION = {
  ...{ Type: "Notification", MessageId: "22b80b92", TopicArn: SNS_TOPIC, SignatureVersion: "1" },
  ...{ Message: "Hello\nworld ü", Timestamp: new Date(NOW).toISOString() },
};
const SUBSCRIBE_URL = `https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${SNS_TOPIC}&Token=2336412f`;
const CONFIRMATION = {
  ...{ ...NOTIFICATION, Type: "SubscriptionConfirmation" },
  ...{ Message: "You have chosen to subscribe", Token: "2336412f", SubscribeURL: SUBSCRIBE_URL },
};

const asRequest = (sent: Sent) => ({
  ...sent,
  headers: Object.fromEntries(Object.entries(sent.headers).map(([name, value]) => [name, [value]])),
});
const verification = openVerification({ preset: "amazon-sns" }, [SNS_TOPIC]);
const published = SIGNERS["amazon-sns"]?.published ?? null;
const verdict = (sent: Sent, key: KeyObject | null = published): Verdict =>
  verifyRequest(verification, asRequest(sent), NOW, key);
const outcome = (sent: Sent, key: KeyObject | null = published): string => {
  const found = verdict(sent, key);
  return found.outcome === "rejected" ? found.reason : found.outcome;
};
const seek = (sent: Sent) => soughtKey(verification, new RequestValues(asRequest(sent)));
/** Changes fields after they were signed. */
const changed = (sent: Sent, fields: object): Sent => ({
  ...sent,
  body: Buffer.from(JSON.stringify({ ...JSON.parse(sent.body.toString()), ...fields })),
});

describe("a message of Amazon SNS", () => {
  it("is verified by both versions of the signature, with and without a subject", () => {
    for (const SignatureVersion of ["1", "2"]) {
      expect(outcome(snsMessage({ ...NOTIFICATION, SignatureVersion }))).to.equal("verified");
      expect(outcome(snsMessage({ ...NOTIFICATION, SignatureVersion, Subject: "s" }))).to.equal("verified");
    }
    expect(outcome(snsMessage({ ...CONFIRMATION, Type: "UnsubscribeConfirmation" }))).to.equal("verified");
    const sought = seek(snsMessage(NOTIFICATION)) ?? expect.fail();
    expect(sought.url).to.equal(SNS_CERTIFICATE_URL);
    const read = sought.read(SNS_TEST.certificate).get(sought.name);
    expect(read?.equals(published ?? expect.fail())).to.equal(true);
    for (const text of ["", "<html>", SNS_TEST.key]) expect(() => sought.read(text)).to.throw();
  });

  it("is rejected with a change of anything that is signed", () => {
    const sent = snsMessage(NOTIFICATION);
    for (const fields of [
      { Message: "Hello" },
      { MessageId: "22b80b93" },
      { Timestamp: new Date(NOW - 1).toISOString() },
      { Subject: "added" },
      { SignatureVersion: "2" },
      { Message: null },
    ]) {
      expect(outcome(changed(sent, fields)), JSON.stringify(fields)).to.equal("mismatch");
    }
    for (const fields of [
      { Type: "Other" },
      { Type: "__proto__" },
      { SignatureVersion: "3" },
      { SignatureVersion: "constructor" },
      { Signature: "a!" },
    ]) {
      expect(outcome(changed(sent, fields)), JSON.stringify(fields)).to.equal("malformed");
    }
    expect(outcome(changed(sent, { Signature: undefined }))).to.equal("no-signature");
    const another = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    expect(outcome(snsMessage(NOTIFICATION, another))).to.equal("mismatch");
    expect(outcome(sent, null)).to.equal("no-key");
  });

  it("is of a topic that the source has as a secret, in its header as in its body", () => {
    const TopicArn = "arn:aws:sns:us-west-2:999999999999:Forged";
    const ofAnother = snsMessage({ ...NOTIFICATION, TopicArn });
    expect([outcome(ofAnother), seek(ofAnother)]).to.deep.equal(["mismatch", null]);
    const disguised = { ...ofAnother, headers: { ...ofAnother.headers, "x-amz-sns-topic-arn": SNS_TOPIC } };
    expect([outcome(disguised), seek(disguised)]).to.deep.equal(["mismatch", null]);
    const { "x-amz-sns-topic-arn": _, ...headers } = ofAnother.headers;
    expect([outcome({ ...ofAnother, headers }), seek({ ...ofAnother, headers })]).to.deep.equal([
      ...["no-signature", null],
    ]);
  });

  it("has a certificate of SNS, and of nothing that looks like it", () => {
    const sent = snsMessage(NOTIFICATION);
    const path = "/SimpleNotificationService-f3ecfb72.pem";
    for (const region of ["eu-central-1", "us-gov-west-1", "ap-southeast-2"]) {
      const url = `https://sns.${region}.amazonaws.com${path}`;
      expect(seek(changed(sent, { SigningCertURL: url }))?.url).to.equal(url);
    }
    const china = `https://sns.cn-north-1.amazonaws.com.cn${path}`;
    expect(seek(changed(sent, { SigningCertURL: china }))?.url).to.equal(china);
    for (const url of [
      `http://sns.us-west-2.amazonaws.com${path}`,
      `https://sns.us-west-2.amazonaws.com.evil.example${path}`,
      `https://evil.example/sns.us-west-2.amazonaws.com${path}`,
      `https://sns.us-west-2.amazonaws.com@evil.example${path}`,
      `https://sns.us-west-2.amazonaws.com:8443${path}`,
      // Names of buckets are free: this is one of a stranger.
      `https://sns.s3-us-west-2.amazonaws.com${path}`,
      `https://sns.s3.amazonaws.com${path}`,
      `https://xsns.us-west-2.amazonaws.com${path}`,
      `https://sns.us-west-2.amazonaws.com/other${path}`,
      `https://sns.us-west-2.amazonaws.com${path}?x=.pem`,
      `https://sns.us-west-2.amazonaws.com/x.pem`,
      `https://sns.us-west-2.amazonaws.com${path}\n`,
      "",
      null,
      7,
    ]) {
      const forged = changed(sent, { SigningCertURL: url });
      expect([seek(forged), outcome(forged)], String(url)).to.deep.equal([null, "malformed"]);
    }
  });

  it("may be large, if its header names the topic, and is not parsed otherwise", () => {
    const large = snsMessage({ ...NOTIFICATION, Message: "ü".repeat(LIMITS.verifyReadBytes.value) });
    expect(outcome(large)).to.equal("verified");
    const headers = { ...large.headers, "x-amz-sns-topic-arn": "another" };
    const values = new RequestValues(asRequest({ ...large, headers }));
    expect(soughtKey(verification, values)).to.equal(null);
    expect(values.read(["body", "Type"])).to.equal(undefined);
  });

  it("may ask to confirm a subscription, at an address of SNS alone", () => {
    expect(verdict(snsMessage(CONFIRMATION))).to.deep.equal({ outcome: "confirmation", url: SUBSCRIBE_URL });
    for (const SubscribeURL of [
      SUBSCRIBE_URL.replace("sns.", "169.254.169.254/"),
      SUBSCRIBE_URL.replace("amazonaws.com", "evil.example"),
      SUBSCRIBE_URL.replace("ConfirmSubscription", "DeleteTopic"),
      SUBSCRIBE_URL.replace("us-west-2", "s3-us-west-2"),
      "http://127.0.0.1/",
    ]) {
      expect(outcome(snsMessage({ ...CONFIRMATION, SubscribeURL })), SubscribeURL).to.equal("malformed");
    }
    expect(outcome(changed(snsMessage(CONFIRMATION), { Token: "other" }))).to.equal("mismatch");
    const old = { ...CONFIRMATION, Timestamp: new Date(NOW - 3_901_000).toISOString() };
    expect(outcome(snsMessage(old))).to.equal("stale");
  });
});
