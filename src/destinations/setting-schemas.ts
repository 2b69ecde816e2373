import { Type } from "typebox";
import { LIMITS } from "../limits/catalogue.ts";

/** Null is the same as absent. */
export const NullableString = (maxLength: number, description: string) =>
  Type.Unsafe<string | null>({ type: ["string", "null"], maxLength, description });

export const ServerAddress = (description: string) =>
  Type.String({ minLength: 1, maxLength: LIMITS.urlCharacters.value, description });
export const Username = NullableString(256, "User name, if the url has none.");
export const Password = NullableString(
  1024,
  "Password, if the url has none; stored encrypted and never shown.",
);
export const PemCertificates = NullableString(
  32_768,
  "Certificates in PEM that are trusted instead of the public ones, for a server with a certificate of its own.",
);
