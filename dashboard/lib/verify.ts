/**
 * How a receiver verifies a delivery (docs/design.md#delivery-to-a-webhook), in languages that people receive with. A
 * request that was signed over five minutes ago is rejected: somebody may have recorded it.
 */
export const VERIFY: { language: string; code: string }[] = [
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
