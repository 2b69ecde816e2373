/** What OpenSSL and Node say of a certificate that can't be verified. */
const CODES = new Set<unknown>([
  ...["DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ...["UNABLE_TO_GET_ISSUER_CERT", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "CERT_UNTRUSTED", "CERT_REJECTED"],
  ...["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID", "ERR_TLS_CERT_ALTNAME_INVALID", "INVALID_CA"],
]);

/** Returns true if the error, or one that caused it, says that a server's certificate can't be verified. */
export function isUntrustedCertificate(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (CODES.has((one as NodeJS.ErrnoException).code)) return true;
  }
  return false;
}
