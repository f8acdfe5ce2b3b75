/** Frames of a stack, enough to reach the migration below the query builder. */
const FRAMES = 60;

/** Runs work whose errors have the frame of the migration in their stack. */
export async function withLongStacks<T>(work: () => Promise<T>): Promise<T> {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = Math.max(before, FRAMES);
  try {
    return await work();
  } finally {
    Error.stackTraceLimit = before;
  }
}

/** The line of a migration's file that an error comes from; null when its stack does not say it. */
export function failedLine(cause: unknown, migration: string): number | null {
  const stack = cause instanceof Error ? (cause.stack ?? '') : '';
  const name = migration.replaceAll(/[^\w-]/g, '.');
  const [, line] = new RegExp(`[/\\\\]${name}\\.[cm]?[jt]s(?:\\?\\w+)?:(\\d+)`).exec(stack) ?? [];
  return line === undefined ? null : Number(line);
}
