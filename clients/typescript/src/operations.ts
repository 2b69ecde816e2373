import type { components, paths } from "./schema.ts";

/** The objects of the API, by name. */
export type Schemas = components["schemas"];

/** A path of the API, as openapi.json writes it: `/sources/{id}`. */
export type Path = keyof paths;

/** The methods that a path has. */
export type MethodOf<P extends Path> = keyof paths[P] & ("get" | "post" | "put" | "delete");

/** The query parameters of an operation. */
export type QueryOf<P extends Path, M extends MethodOf<P>> = paths[P][M] extends {
  parameters: { query?: infer Query };
}
  ? Query
  : undefined;

/** The JSON body of an operation. */
export type BodyOf<P extends Path, M extends MethodOf<P>> = paths[P][M] extends {
  requestBody?: { content: { "application/json": infer Body } };
}
  ? Body
  : undefined;

/** The parameters in the path of an operation. */
type ParamsOf<P extends Path, M extends MethodOf<P>> = paths[P][M] extends {
  parameters: { path: infer Params extends object };
}
  ? { params: Params }
  : { params?: undefined };

/** What an operation is given. */
export type InputOf<P extends Path, M extends MethodOf<P>> = ParamsOf<P, M> & {
  query?: QueryOf<P, M> | undefined;
  body?: BodyOf<P, M> | undefined;
};

type Json<Response> = Response extends { content: { "application/json": infer Body } } ? Body : undefined;

type SuccessOf<P extends Path, M extends MethodOf<P>> = paths[P][M] extends { responses: infer Responses }
  ? Json<Responses[keyof Responses & (200 | 201 | 202 | 204)]>
  : never;

/** What an operation returns: the `data` of its body; of a list, the body, with the `page_info` that it may have. */
export type ResultOf<P extends Path, M extends MethodOf<P>> =
  SuccessOf<P, M> extends infer Body
    ? Body extends { data: readonly unknown[] }
      ? Body
      : Body extends { data: infer Data }
        ? Data
        : Body
    : never;
