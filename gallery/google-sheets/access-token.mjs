import { sign } from "node:crypto";
import { jsonOf, send } from "../lib/http.mjs";

const MINUTES_S = 600;

/** Returns a token that may read spreadsheets, for a service account by its JSON key. Throws what is wrong with the key. */
export async function accessTokenOf(text) {
  const { client_email: iss, private_key: key, token_uri: aud } = readKey(text);
  const iat = Math.floor(Date.now() / 1000);
  const scope = "https://www.googleapis.com/auth/spreadsheets.readonly";
  const content = [
    { alg: "RS256", typ: "JWT" },
    { iss, scope, aud, iat, exp: iat + MINUTES_S },
  ]
    .map(part => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const assertion = `${content}.${sign("RSA-SHA256", Buffer.from(content), key).toString("base64url")}`;
  const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  const response = await send(aud, { method: "POST", body: new URLSearchParams({ grant_type, assertion }) });
  return jsonOf(response).access_token;
}

function readKey(text) {
  let key;
  try {
    key = JSON.parse(text);
  } catch {
    throw new Error("Service account key: must be the JSON file that Google Cloud made");
  }
  const missing = ["client_email", "private_key", "token_uri"].filter(
    name => typeof key?.[name] !== "string",
  );
  if (missing.length > 0) throw new Error(`Service account key: has no ${missing.join(", ")}`);
  return key;
}
