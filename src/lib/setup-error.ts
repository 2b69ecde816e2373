/** Exit code of a process with unusable settings (EX_CONFIG): starting it again can't help. */
export const EXIT_CONFIG = 78;

/**
 * Settings, or stores that they name, with which a process must not start. `message` is one line that names the setting and
 * holds no secret.
 */
export class SetupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s+/g, " "), options);
    this.name = "SetupError";
  }
}

/** Returns the exit code of a process that can't start. */
export const exitCodeOf = (error: unknown): number => (error instanceof SetupError ? EXIT_CONFIG : 1);
