import type { ComponentChildren } from "preact";
import type { Tone } from "../ui/basics";
import { Icon, type IconName } from "../ui/icon";

interface StepProps {
  icon: IconName;
  tone: Tone;
  title: ComponentChildren;
  note: ComponentChildren;
  children?: ComponentChildren;
  actions?: ComponentChildren;
  /** One line, which shows the rest when it is opened. */
  isFolded?: boolean;
}

/** One step on the way of an event. */
export const Step = ({ icon, tone, title, note, children, actions, isFolded = false }: StepProps) => (
  <li class={`step ${tone}${isFolded ? " slim" : ""}`}>
    <span class="dot">
      <Icon name={icon} />
    </span>
    {isFolded ? (
      <details class="card">
        <summary>
          {title} {note}
        </summary>
        <div class="pad stack tight">
          {children}
          {actions && <div>{actions}</div>}
        </div>
      </details>
    ) : (
      <div class="card pad stack tight">
        <div class="spread">
          <div>
            <div class="sub">{note}</div>
            <h2>{title}</h2>
          </div>
          {actions}
        </div>
        {children}
      </div>
    )}
  </li>
);
