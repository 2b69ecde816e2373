import { Type } from "typebox";

/** What the response to an update says of secrets, so that a form or a person gives them again. */
export const SecretsRemoved = Type.Array(Type.String(), {
  description:
    "Names of the secrets that the update removed, because they were for another server or another component, and were not " +
    "given again.",
});
