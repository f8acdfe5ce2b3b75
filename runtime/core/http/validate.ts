import { createRequire } from 'node:module';
import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import type { JsonSchema } from '@twofold/schema';
import { failure } from '../errors.ts';

/** Checks a value and gives it back, with defaults filled in; throws 400 with the first problem. */
export type Check = (value: unknown) => unknown;

/**
 * The checks of a server's routes. Loading the compiler and compiling a schema take a good part of a server's start, so that each
 * waits for its first request.
 *
 * @example
 * const { body } = createChecks();
 * body({ type: 'object', required: ['email'] })({}) // throws 400 `email is required`
 */
export function createChecks(): {
  readonly body: (schema: JsonSchema) => Check;
  readonly query: (schemas: Readonly<Record<string, JsonSchema>>) => Check;
} {
  const exact = compiler({});
  const coercing = compiler({ coerceTypes: true });
  return {
    body: (schema) => check(exact, schema),
    query: (properties) => check(coercing, { type: 'object', properties }),
  };
}

type Compile = (schema: JsonSchema) => ValidateFunction;

function compiler(more: Options): Compile {
  let ajv: Ajv | undefined;
  return (schema) => {
    // The class apart: the packer's compiler drops the parentheses of `new (load('ajv') as …).Ajv()`.
    const loaded = load('ajv') as typeof import('ajv');
    ajv ??= new loaded.Ajv({
      allErrors: false,
      strict: false,
      useDefaults: true,
      validateFormats: false,
      ...more,
    });
    return ajv.compile(schema);
  };
}

const load = createRequire(import.meta.url);

function check(compile: Compile, schema: JsonSchema): Check {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= compile(schema);
    if (validate(value)) return value;
    throw failure.badRequest(describe(validate.errors?.[0]));
  };
}

function describe(error: ErrorObject | undefined): string {
  if (!error) return 'Invalid request';
  const field = error.instancePath.slice(1).replaceAll('/', '.');
  const { missingProperty, additionalProperty, allowedValues } = error.params as Record<
    string,
    unknown
  >;
  if (error.keyword === 'required')
    return `${field ? `${field}.` : ''}${missingProperty} is required`;
  if (error.keyword === 'additionalProperties')
    return `${field ? `${field}.` : ''}${additionalProperty} is not a known field`;
  if (!field) return 'Invalid request';
  if (error.keyword === 'enum')
    return `${field} must be one of ${(allowedValues as unknown[]).join(', ')}`;
  return `${field} ${error.message ?? 'is invalid'}`.replace('must NOT', 'must not');
}
