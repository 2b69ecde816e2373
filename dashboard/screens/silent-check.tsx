import { Check } from "../ui/form";

interface SilentCheckProps {
  isSilent: boolean;
  onChange: (isSilent: boolean) => void;
}

/** Whether what the deploy hook of a new source emits is dropped. */
export const SilentCheck = ({ isSilent, onChange }: SilentCheckProps) => (
  <Check
    label="Drop what its deploy hook emits, such as events that are there already"
    isOn={isSilent}
    onChange={onChange}
  />
);
