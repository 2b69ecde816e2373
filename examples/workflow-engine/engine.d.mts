export function startEngine(options: {
  redisUrl: string;
  prefix?: string;
  workflowId: string;
  steps: (event: unknown) => unknown;
}): Promise<() => Promise<void>>;
