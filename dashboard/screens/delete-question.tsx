import type { ComponentChildren } from "preact";
import { type CallOptions, messageOf } from "../api/client";
import { useResource } from "../api/resource";
import { Notice } from "../ui/basics";
import { Confirm } from "../ui/dialog";
import { Loading } from "../ui/states";

interface DeleteQuestionProps {
  title: string;
  /** What is asked about besides its title: counted again when it changes. */
  of?: string;
  /** A choice of what is deleted. */
  above?: ComponentChildren;
  /** Reads what is gone with it, a line each. */
  losses: (call: CallOptions) => Promise<string[]>;
  /** What can't be done any more, or what stays. */
  children: ComponentChildren;
  onConfirm: () => unknown;
  onClose: () => void;
}

/** Asks before something is deleted, with what is gone then, counted now: to be seen before one agrees. */
export function DeleteQuestion({
  title,
  of,
  above,
  losses,
  children,
  onConfirm,
  onClose,
}: DeleteQuestionProps) {
  const { data, error } = useResource(losses, [title, of]);
  return (
    <Confirm
      title={title}
      action="Delete"
      isDisabled={data === undefined && error === undefined}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {above}
      {data === undefined && error === undefined && <Loading lines={2} />}
      {error !== undefined && (
        <Notice tone="warn">What is gone with it could not be counted: {messageOf(error)}</Notice>
      )}
      {data !== undefined && data.length > 0 && (
        <>
          <p>Gone for good:</p>
          <ul class="losses">
            {data.map(line => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </>
      )}
      <p>{children}</p>
    </Confirm>
  );
}
