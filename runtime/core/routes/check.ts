import type { InputError } from '../http/input-types.ts';
import { ConfigError, failure } from '../errors.ts';
import type { RouteParts } from './parts.ts';
import { isStandardSchema, type StandardIssue, type StandardSchema } from './standard-schema.ts';

/** Gives the checked and coerced value; see `InputTypes.check`. */
export type Check = (value: unknown, as?: 'text' | 'own') => unknown;

/**
 * Makes the check for `body` or `query` of a route. It throws AppError 400 with every problem in
 * `extensions.errors`.
 *
 * @throws ConfigError when the schema has no input type of this name.
 */
export function createCheck(
  { inputs }: Pick<RouteParts, 'inputs'>,
  route: string,
  type: string | StandardSchema,
): Check {
  if (isStandardSchema(type)) return (value) => checkStandard(type, value);
  if (!inputs.has(type))
    throw new ConfigError([
      `${route}: the schema has no input type ${type}: add it, or pass a Standard Schema (zod, valibot)`,
    ]);
  return (value, as) => {
    const result = inputs.check(type, value, as);
    if ('errors' in result) throw refused(result.errors);
    return result.value;
  };
}

async function checkStandard(schema: StandardSchema, value: unknown): Promise<unknown> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  throw refused(result.issues.map(toError));
}

function toError({ message, path = [] }: StandardIssue): InputError {
  const names = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return { field: names.join('.'), message };
}

function refused(errors: readonly InputError[]) {
  const [{ field, message } = { field: '', message: 'Invalid request' }] = errors;
  const text = field === '' || message.startsWith(field) ? message : `${field}: ${message}`;
  return failure.invalid(text, { extensions: { field, errors } });
}
