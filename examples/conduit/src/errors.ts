import { AppError } from '@twofold/runtime';
import type { Middleware } from '@twofold/runtime';

interface InputError {
  readonly field: string;
  readonly message: string;
}

/** Answers errors as Conduit does: `{"errors": {"title": ["is required"]}}`, and 422 for wrong input. */
export const conduitErrors: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    ctx.status = error.status === 400 ? 422 : error.status;
    ctx.set({ ...error.headers });
    ctx.body = { errors: errorsOf(error) };
  }
};

function errorsOf({ message, extensions }: AppError): Record<string, string[]> {
  const errors = (extensions['errors'] ?? []) as readonly InputError[];
  if (errors.length === 0) return { body: [message] };
  const byField: Record<string, string[]> = {};
  for (const { field, message: text } of errors) {
    const name = field.split('.').at(-1) ?? field;
    (byField[name] ??= []).push(text.replace(field, '').trim());
  }
  return byField;
}
