/** Small bars without axes; the numbers beside them say the same. */
export function Bars({ values, label, tone = "accent" }: { values: number[]; label: string; tone?: string }) {
  const most = Math.max(1, ...values);
  const width = 100 / Math.max(1, values.length);
  return (
    <svg class={`bars ${tone}`} viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={label}>
      {values.map((value, i) => {
        const height = value === 0 ? 0.6 : Math.max(2, (28 * value) / most);
        return (
          <rect key={i} x={i * width + width * 0.14} y={30 - height} width={width * 0.72} height={height} />
        );
      })}
    </svg>
  );
}
