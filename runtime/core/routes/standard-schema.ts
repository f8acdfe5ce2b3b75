/**
 * The interface of standardschema.dev, which zod, valibot and other libraries implement. Declared
 * here so that a project needs no package for it.
 */
export interface StandardSchema<Input = any, Output = any> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The value that a schema gives for a valid input. */
export type OutputOf<Schema> = Schema extends StandardSchema<any, infer Output> ? Output : never;

/** Libraries make their schemas as objects or as functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  return (
    value !== null &&
    (typeof value === 'object' || typeof value === 'function') &&
    '~standard' in value
  );
}
