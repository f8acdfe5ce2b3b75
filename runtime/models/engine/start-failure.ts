import { AppError } from '@twofold/runtime/errors';

/** The error of a failed start, with its reason as a text. */
export function startFailure(
  error: unknown,
  signal: AbortSignal,
  { id, patience }: { readonly id: string; readonly patience: number },
): AppError {
  if (signal.aborted)
    return new AppError(409, 'CONFLICT', `The start of ${id} was called off by another call`);
  const { name, message } = error as Error;
  const reason =
    name === 'TimeoutError' ? `it did not answer within ${Math.round(patience / 1000)} s` : message;
  return new AppError(502, 'MODEL_FAILED', `${id} cannot be started: ${reason}`, { cause: error });
}
