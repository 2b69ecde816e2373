import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../api/client";
import { Notice } from "./basics";
import { Loading } from "./states";

/** Returns a component whose code is loaded when it is first shown. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Later(props: Props) {
    const [Component, setComponent] = useState(() => loaded);
    const [fault, setFault] = useState("");
    useEffect(() => {
      if (Component) return;
      load().then(
        found => {
          loaded = found;
          setComponent(() => found);
        },
        error => setFault(messageOf(error)),
      );
    }, []);
    if (fault)
      return <Notice tone="bad">A part of this page did not load ({fault}). Reload the page.</Notice>;
    return Component ? <Component {...props} /> : <Loading />;
  };
}
