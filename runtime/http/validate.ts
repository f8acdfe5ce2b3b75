import { Ajv, type ErrorObject } from 'ajv';
import type { JsonSchema } from '@twofold/schema';
import { failure } from '../errors.ts';

/** Checks a value and gives it back, with defaults filled in; throws 400 with the first problem. */
export type Check = (value: unknown) => unknown;

/**
 * Compiles the checks of a server's routes.
 *
 * @example
 * const { body } = createChecks();
 * body({ type: 'object', required: ['email'] })({}) // throws 400 `email is required`
 */
export function createChecks(): { readonly body: (schema: JsonSchema) => Check; readonly query: (schemas: Readonly<Record<string, JsonSchema>>) => Check } {
  const options = { allErrors: false, strict: false, useDefaults: true, validateFormats: false } as const;
  const exact = new Ajv(options);
  const coercing = new Ajv({ ...options, coerceTypes: true });
  return {
    body: (schema) => compile(exact, schema),
    query: (properties) => compile(coercing, { type: 'object', properties }),
  };
}

function compile(ajv: Ajv, schema: JsonSchema): Check {
  const validate = ajv.compile(schema);
  return (value) => {
    if (validate(value)) return value;
    throw failure.badRequest(describe(validate.errors?.[0]));
  };
}

function describe(error: ErrorObject | undefined): string {
  if (!error) return 'Invalid request';
  const field = error.instancePath.slice(1).replaceAll('/', '.');
  const { missingProperty, additionalProperty, allowedValues } = error.params as Record<string, unknown>;
  if (error.keyword === 'required') return `${field ? `${field}.` : ''}${missingProperty} is required`;
  if (error.keyword === 'additionalProperties') return `${field ? `${field}.` : ''}${additionalProperty} is not a known field`;
  if (!field) return 'Invalid request';
  if (error.keyword === 'enum') return `${field} must be one of ${(allowedValues as unknown[]).join(', ')}`;
  return `${field} ${error.message ?? 'is invalid'}`.replace('must NOT', 'must not');
}
