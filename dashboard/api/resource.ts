import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, type CallOptions, returns } from "./client";

export interface Resource<T> {
  /** Kept while it is loaded again. */
  data: T | undefined;
  error: unknown;
  isLoading: boolean;
  reload: () => void;
  /** Replaces what is shown, for example by what a change returned. */
  put: (data: T) => void;
}

const isGone = (error: unknown) => error instanceof ApiError && error.status === 404;

/**
 * Loads at once, and again when something of `deps` changes, at `reload()`, and when the server is back. `load` gets what its
 * calls need: they end with the screen, and what fails is not sent again by itself, because the reader sees it at once.
 */
export function useResource<T>(load: (call: CallOptions) => PromiseLike<T>, deps: unknown[]): Resource<T> {
  const [state, setState] = useState<Pick<Resource<T>, "data" | "error" | "isLoading">>({
    data: undefined,
    error: undefined,
    isLoading: true,
  });
  const [version, setVersion] = useState(0);
  const request = useRef<AbortController | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    request.current = abort;
    // What failed loads again, unless something is shown.
    setState(({ data, error }) => ({ data, error: data === undefined ? undefined : error, isLoading: true }));
    load({ signal: abort.signal, maxRetries: 0 }).then(
      data => !abort.signal.aborted && setState({ data, error: undefined, isLoading: false }),
      // Of what was deleted elsewhere nothing is left to be shown, or to be done.
      error =>
        !abort.signal.aborted &&
        setState(last => ({ data: isGone(error) ? undefined : last.data, error, isLoading: false })),
    );
    return () => abort.abort();
  }, [...deps, version, returns.value]);
  const reload = useCallback(() => setVersion(last => last + 1), []);
  const put = useCallback((data: T) => {
    // What is on its way may be older.
    request.current?.abort();
    setState({ data, error: undefined, isLoading: false });
  }, []);
  return { ...state, reload, put };
}
