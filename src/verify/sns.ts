import { type KeyObject, verify, X509Certificate } from "node:crypto";
import { findKey, isSecret, type Proof } from "./comparisons.ts";
import { decodeStrictly, type Key } from "./keys.ts";
import { DOUBLED, type RequestValues } from "./request-values.ts";
import type { VerifyRule } from "./schema.ts";
import { readSignatures } from "./signatures.ts";

const OF_SUBSCRIPTION = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
/** What Amazon SNS signs of each type of message (docs.aws.amazon.com/sns, "Verifying the signatures of Amazon SNS messages"). */
const SIGNED: Readonly<Record<string, readonly string[]>> = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: OF_SUBSCRIPTION,
  UnsubscribeConfirmation: OF_SUBSCRIPTION,
};
/** By the version of the signature. */
const HASHES = new Map([
  ["1", "sha1"],
  ["2", "sha256"],
]);

/** The host is SNS's own: other services have hosts of the same form with a name of a customer, but not below a region. */
const HOST = String.raw`https://sns\.[a-z]{2}(?:-[a-z]{2,12}){1,3}-\d{1,2}\.amazonaws\.com(?:\.cn)?`;
const CERTIFICATE_URL = new RegExp(`^${HOST}/SimpleNotificationService-[0-9A-Za-z]{1,64}\\.pem$`);
const CONFIRMATION_URL = new RegExp(`^${HOST}/\\?Action=ConfirmSubscription&[\\x21-\\x7e]{1,1000}$`);

const field = (values: RequestValues, name: string): string | undefined => {
  const value = values.read(["body", name]);
  return value === DOUBLED ? undefined : value;
};

/**
 * Returns the topic of a message. Its header names it: what is not of one of these topics has no body parsed beyond what strangers may,
 * and no certificate fetched.
 */
function topicOf(keys: readonly Key[], values: RequestValues): Proof {
  const topic = values.read(["headers", "x-amz-sns-topic-arn"]);
  if (topic === undefined) return { reason: "no-signature" };
  if (topic === DOUBLED) return { reason: "doubled" };
  const proof = findKey(keys, key => isSecret(Buffer.from(topic), key));
  if ("reason" in proof) return proof;
  values.mayParseAll();
  return field(values, "TopicArn") === topic ? proof : { reason: "mismatch" };
}

/** Returns where the certificate is by which a message of these topics says it is signed; null for any other request. */
export function certificateUrlOf(keys: readonly Key[], values: RequestValues): string | null {
  if ("reason" in topicOf(keys, values)) return null;
  const url = field(values, "SigningCertURL") ?? "";
  return CERTIFICATE_URL.test(url) ? url : null;
}

/** Checks a message by the public key of its certificate. */
export function proveMessage(
  rule: Pick<VerifyRule, "signature">,
  keys: readonly Key[],
  values: RequestValues,
  published: KeyObject | null,
): Proof {
  const proof = topicOf(keys, values);
  if ("reason" in proof) return proof;
  const signatures = readSignatures(rule, values);
  if ("reason" in signatures) return signatures;
  const signature = decodeStrictly(signatures.given[0] ?? "", "base64");
  const type = field(values, "Type") ?? "";
  const hash = HASHES.get(field(values, "SignatureVersion") ?? "");
  const signed = Object.hasOwn(SIGNED, type) ? SIGNED[type] : undefined;
  if (!signature || !hash || !signed || !isConfirmable(type, values) || !certificateUrlOf(keys, values)) {
    return { reason: "malformed" };
  }
  if (!published) return { reason: "no-key" };
  const content = signed
    .map(name => [name, field(values, name)])
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}\n${value}\n`);
  return verify(hash, Buffer.from(content.join("")), published, signature) ? proof : { reason: "mismatch" };
}

const isConfirmable = (type: string, values: RequestValues): boolean =>
  type !== "SubscriptionConfirmation" || CONFIRMATION_URL.test(field(values, "SubscribeURL") ?? "");

/** Returns the address by which the subscription that a message is about is confirmed; null for every other message. */
export const confirmationUrlOf = (values: RequestValues): string | null =>
  field(values, "Type") === "SubscriptionConfirmation" ? (field(values, "SubscribeURL") ?? null) : null;

/** Returns the public key of a certificate as PEM. Throws what OpenSSL says of another text, and for one that is not RSA. */
export function readCertificate(pem: string): KeyObject {
  const { publicKey } = new X509Certificate(pem);
  if (publicKey.asymmetricKeyType !== "rsa") throw new TypeError("its key is not RSA");
  return publicKey;
}
