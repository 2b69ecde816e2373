/** How a receiver verifies a delivery (docs/design.md#delivery-to-a-webhook), in languages that people receive with. */
export const VERIFY: { language: string; code: string }[] = [
  {
    language: "Node",
    code: `import { createHmac, timingSafeEqual } from "node:crypto";

// body: the exact bytes of the request
export function isGenuine(headers, body, signingKey) {
  const key = Buffer.from(signingKey.replace("whsec_", ""), "base64");
  const text = \`\${headers["webhook-id"]}.\${headers["webhook-timestamp"]}.\${body}\`;
  const wanted = createHmac("sha256", key).update(text).digest();
  return headers["webhook-signature"].split(" ").some(one => {
    const given = Buffer.from(one.replace("v1,", ""), "base64");
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}`,
  },
  {
    language: "Python",
    code: `import base64, hashlib, hmac

def is_genuine(headers, body: bytes, signing_key: str) -> bool:
    key = base64.b64decode(signing_key.removeprefix("whsec_"))
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    wanted = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(one, "v1," + wanted)
               for one in headers["webhook-signature"].split(" "))`,
  },
  {
    language: "Go",
    code: `func isGenuine(h http.Header, body []byte, signingKey string) bool {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(signingKey, "whsec_"))
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
require "base64"

def genuine?(headers, body, signing_key)
  key = Base64.decode64(signing_key.delete_prefix("whsec_"))
  text = "#{headers["webhook-id"]}.#{headers["webhook-timestamp"]}.#{body}"
  wanted = "v1," + Base64.strict_encode64(OpenSSL::HMAC.digest("SHA256", key, text))
  headers["webhook-signature"].split(" ").any? { |one| OpenSSL.secure_compare(one, wanted) }
end`,
  },
];
