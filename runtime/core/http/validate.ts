import { type JsonSchema, parseDuration } from '@twofold/schema';
import { failure, InternalError } from '../errors.ts';

/** Checks a value and gives it back, with defaults filled in; throws 400 with the first problem. */
export type Check = (value: unknown) => unknown;

/**
 * Loads the class `Ajv`. The package that defines the routes provides it, so that a server without
 * such routes does not install it.
 */
export type LoadValidator = () => new (options: ValidatorOptions) => {
  compile(schema: JsonSchema): Validate;
};

interface ValidatorOptions {
  readonly allErrors: boolean;
  readonly strict: boolean;
  readonly useDefaults: boolean;
  readonly validateFormats: boolean;
  readonly coerceTypes: boolean;
}

interface Validate {
  (value: unknown): unknown;
  errors?: readonly Fault[] | null;
}

interface Fault {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: unknown;
  readonly message?: string;
}

/**
 * The checks of a server's routes. Loading the compiler and compiling schemas take much of the
 * start time, so each is done on first use.
 *
 * @example
 * const { body } = createChecks(validator);
 * body({ type: 'object', required: ['email'] })({}) // throws 400 `email is required`
 */
export function createChecks(load: LoadValidator | undefined): {
  readonly body: (schema: JsonSchema) => Check;
  readonly query: (schemas: Readonly<Record<string, JsonSchema>>) => Check;
} {
  const exact = compiler(load, false);
  const coercing = compiler(load, true);
  return {
    body: (schema) => check(exact, schema),
    query: (properties) => check(coercing, { type: 'object', properties }),
  };
}

type Compile = (schema: JsonSchema) => Validate;

function compiler(load: LoadValidator | undefined, coerceTypes: boolean): Compile {
  let validator: { compile: Compile } | undefined;
  return (schema) => {
    if (!load) throw new InternalError('a route has something to check, and no module a validator');
    // Two statements, because the bundler's compiler removes the parentheses of `new (load())()`.
    const Validator = load();
    validator ??= new Validator({
      allErrors: false,
      strict: false,
      useDefaults: true,
      validateFormats: false,
      coerceTypes,
    });
    return validator.compile(schema);
  };
}

function check(compile: Compile, schema: JsonSchema): Check {
  let validate: Validate | undefined;
  return (value) => {
    validate ??= compile(schema);
    if (validate(value)) return value;
    throw failure.badRequest(describe(validate.errors?.[0]));
  };
}

function describe(error: Fault | undefined): string {
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

/**
 * Milliseconds since 1970 of a query parameter: an RFC 3339 time, Unix seconds, or a duration
 * before now.
 *
 * @param name The parameter, for the error.
 * @throws AppError 400 for any other text.
 * @example
 * momentOf('since', '10m') // Date.now() - 600_000
 */
export function momentOf(name: string, text: string): number {
  const ago = /^\d{1,6}[smhd]$/.test(text) ? parseDuration(text) : null;
  if (ago !== null) return Date.now() - ago;
  const time = /^\d{1,12}(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  if (Number.isFinite(time)) return time;
  throw failure.badRequest(`${name} must be a time, Unix seconds or a duration such as 10m`);
}
