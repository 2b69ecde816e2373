/**
 * How a receiver verifies a delivery (docs/design.md#delivery-to-a-webhook), in languages that people receive with. A
 * request that was signed over five minutes ago is rejected: somebody may have recorded it.
 */
interface Example {
  language: string;
  code: string;
}

/** Of a webhook that signs with a secret that its receiver has too. */
export const VERIFY: Example[] = [
  {
    language: "Node",
    code: `import { createHmac, timingSafeEqual } from "node:crypto";

// body: the exact bytes of the request, before they are parsed
export function isGenuine(headers, body, signingKey) {
  const { "webhook-id": id, "webhook-timestamp": sent, "webhook-signature": given = "" } = headers;
  if (!(Math.abs(Date.now() / 1000 - sent) < 300)) return false;
  const key = Buffer.from(signingKey.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", key).update(\`\${id}.\${sent}.\`).update(body).digest("base64");
  const wanted = Buffer.from("v1," + signature);
  return given.split(" ").map(one => Buffer.from(one))
    .some(one => one.length === wanted.length && timingSafeEqual(one, wanted));
}`,
  },
  {
    language: "Python",
    code: `import base64, hmac, time

def is_genuine(headers, body: bytes, signing_key: str) -> bool:
    sent = headers.get("webhook-timestamp", "")
    if not sent.isdecimal() or abs(time.time() - int(sent)) > 300:
        return False
    key = base64.b64decode(signing_key.removeprefix("whsec_"))
    text = f"{headers.get('webhook-id')}.{sent}.".encode() + body
    wanted = b"v1," + base64.b64encode(hmac.digest(key, text, "sha256"))
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(one.encode(), wanted) for one in given)`,
  },
  {
    language: "Go",
    code: `import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func isGenuine(h http.Header, body []byte, signingKey string) bool {
	sent, err := strconv.ParseInt(h.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(sent, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signingKey, "whsec_"))
	if err != nil || len(key) == 0 {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", h.Get("webhook-id"), h.Get("webhook-timestamp"), body)
	wanted := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, one := range strings.Fields(h.Get("webhook-signature")) {
		if hmac.Equal([]byte(one), []byte(wanted)) {
			return true
		}
	}
	return false
}`,
  },
  {
    language: "Ruby",
    code: `require "openssl"

def genuine?(headers, body, signing_key)
  sent = headers["webhook-timestamp"].to_s
  return false if (Time.now.to_i - sent.to_i).abs > 300
  key = signing_key.delete_prefix("whsec_").unpack1("m")
  text = "#{headers["webhook-id"]}.#{sent}.#{body}"
  wanted = "v1," + [OpenSSL::HMAC.digest("SHA256", key, text)].pack("m0")
  headers["webhook-signature"].to_s.split(" ").any? { |one| OpenSSL.secure_compare(one, wanted) }
end`,
  },
];

/** Of a webhook that signs by ed25519: the receiver has the public key only. */
export const VERIFY_ED25519: Example[] = [
  {
    language: "Node",
    code: `import { createPublicKey, verify } from "node:crypto";

// body: the exact bytes of the request, before they are parsed
export function isGenuine(headers, body, publicKey) {
  const { "webhook-id": id, "webhook-timestamp": sent, "webhook-signature": given = "" } = headers;
  if (!(Math.abs(Date.now() / 1000 - sent) < 300)) return false;
  const x = Buffer.from(publicKey.replace("whpk_", ""), "base64").toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const signed = Buffer.concat([Buffer.from(\`\${id}.\${sent}.\`), Buffer.from(body)]);
  return given.split(" ").filter(one => one.startsWith("v1a,"))
    .some(one => verify(null, signed, key, Buffer.from(one.slice(4), "base64")));
}`,
  },
  {
    language: "Python",
    code: `import base64, time
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

def is_genuine(headers, body: bytes, public_key: str) -> bool:
    sent = headers.get("webhook-timestamp", "")
    if not sent.isdecimal() or abs(time.time() - int(sent)) > 300:
        return False
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key.removeprefix("whpk_")))
    text = f"{headers.get('webhook-id')}.{sent}.".encode() + body
    for one in headers.get("webhook-signature", "").split(" "):
        try:
            if one.startswith("v1a,"):
                key.verify(base64.b64decode(one[4:]), text)
                return True
        except (InvalidSignature, ValueError):
            pass
    return False`,
  },
  {
    language: "Go",
    code: `import (
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func isGenuine(h http.Header, body []byte, publicKey string) bool {
	sent, err := strconv.ParseInt(h.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(sent, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(publicKey, "whpk_"))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return false
	}
	text := append([]byte(h.Get("webhook-id")+"."+h.Get("webhook-timestamp")+"."), body...)
	for _, one := range strings.Fields(h.Get("webhook-signature")) {
		signature, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(one, "v1a,"))
		if err == nil && strings.HasPrefix(one, "v1a,") && ed25519.Verify(key, text, signature) {
			return true
		}
	}
	return false
}`,
  },
];
