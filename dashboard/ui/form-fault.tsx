import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, messageOf } from "../api/client";
import { sentence } from "../lib/format";
import { Notice } from "./basics";

/** What is wrong with the field of this name. */
export type FaultOf = (path: string) => string | undefined;

/** Of a field that has fields itself, such as custom headers, the first fault with its name. */
export const faultsOf =
  (fault: unknown): FaultOf =>
  path => {
    const faults = fault instanceof ApiError ? fault.errors : [];
    const own = faults.find(one => one.path === path);
    if (own) return own.message;
    const inner = faults.find(one => one.path.startsWith(path) && /[.[]/.test(one.path.charAt(path.length)));
    return inner && `${inner.path.slice(path.length).replace(/^\./, "")} ${inner.message}`;
  };

/** Sends what a form has, and keeps what the request throws until the next begins. */
export function useSending() {
  const [fault, setFault] = useState<unknown>();
  const send = async (request: () => Promise<unknown>): Promise<void> => {
    setFault(undefined);
    try {
      await request();
    } catch (error) {
      setFault(error);
    }
  };
  return { fault, faultOf: faultsOf(fault), send, forget: () => setFault(undefined) };
}

interface FormFaultProps {
  fault: unknown;
  /** Whether a field of the form shows what is wrong with this path. */
  isShown?: (path: string) => boolean;
}

/** What the last request found wrong, as far as no field says it; else the focus goes to the first field that does. */
export function FormFault({ fault, isShown = () => false }: FormFaultProps) {
  const self = useRef<HTMLDivElement>(null);
  const errors = fault instanceof ApiError ? fault.errors : [];
  const others = errors.filter(one => !isShown(one.path));
  const isAtFields = errors.length > 0 && others.length === 0;
  useEffect(() => {
    if (isAtFields)
      self.current?.closest("form, main")?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [fault]);
  if (fault === undefined) return null;
  if (isAtFields) return <div ref={self} />;
  const texts = others.length < errors.length ? others.map(one => `${one.path} ${one.message}`) : [];
  return <Notice tone="bad">{sentence(texts.length > 0 ? texts.join("; ") : messageOf(fault))}</Notice>;
}
