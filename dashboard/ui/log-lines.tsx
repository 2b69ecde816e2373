import { CopyBlock } from "./basics";

interface LogLinesProps {
  lines: { level: string; message: string }[];
  label?: string;
}

/** What code wrote to its console; nothing if it wrote nothing. */
export const LogLines = ({ lines, label = "Log" }: LogLinesProps) =>
  lines.length === 0 ? null : (
    <CopyBlock text={lines.map(one => `${one.level}  ${one.message}`).join("\n")} label={label} />
  );
